#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import BreakerFleet
@testable import breaker_fleet

/// All JSON that `breaker-fleet` prints meets the schema in docs/.
@Suite(.timeLimit(.minutes(10))) struct FleetJSONTests {
    private static let lines: [(line: [String], definition: String)] = [
        (["status"], "status"), (["check"], "check"), (["check", "--host", "a"], "check"),
        (["schema", "check"], "schemaChecked"), (["schema", "apply"], "schemaApplied"), (["help"], "help"),
        (["help", "forget"], "help"), (["status", "--help"], "help"), (["--version"], "versions"),
        (["forget", "left"], "forgotten"), (["history", "reopened"], "history"), (["reset", "reopened"], "changes"),
        (["release", "closed"], "changes"),
        (["hold", "open", "closed", "--for", "2m"], "changes"), (["hold", "open", "own", "--dry-run"], "changes"),
    ]

    /// A fleet with a host, a circuit and a hold of each kind.
    private static func database() async throws -> TestDatabase {
        let database = try await TestDatabase()
        let registers = try ["a", "refused", "left"].map { try database.registers(host: $0) }
        for (number, registers) in registers.enumerated() {
            var link = Registers.Link(session: Int64(number), file: "f\(number)", program: "p")
            link.trouble = number == 1 ? "can't send its failures: no" : nil
            let trips = ["own", "half"].map {
                Registers.OwnTrip(
                    circuit: $0, age: 5, isHalfOpen: $0 == "half", lastError: $0 == "own" ? "503 \u{202E}" : nil)
            }
            _ = try registers.beat(
                link, rules: ["open": "\(number)"], ownTrips: number == 0 ? trips : [], reading: [])
            if number == 2 { try registers.leave(link) }
        }
        _ = try registers[0].perform(.elect(generation: registers[0].makeOpen("open", for: 0)), on: "open")
        _ = try registers[0].makeOpen("reopened")
        try registers[0].insertMissing(["closed", "held", "timed", "own"])
        try registers[0].say(.hold(.open, for: nil), on: "held")
        try registers[0].say(.hold(.closed, for: 60_000_000), on: "timed")
        try registers[0].say(.reset, on: "reopened")
        return database
    }

    @Test func allDocumentsMeetIt() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let schema = try JSONSchema(contentsOf: root.appending(path: "docs/breaker-fleet.schema.json"))
        let database = try await Self.database()
        for (line, definition) in Self.lines {
            let result = Answer(["--json"] + line, at: database)
            #expect(result.output.hasSuffix("\n") && result.output.count { $0 == "\n" } == 1, "\(line): \(result)")
            #expect(schema.complaints(about: result.output, as: definition) == [], "\(line)")
            #expect(schema.complaints(about: result.output) == [], "\(line)")
        }
        // No verb is left out, but for those whose output is of another kind.
        let verbs = Set(Self.lines.compactMap { $0.line.first }).union([RunVerb.name, CompletionsVerb.name])
        #expect(verbs.isSuperset(of: FleetProgram.verbs.map { $0.name }))
    }

    @Test func hostsThatDoNotComeBackAreForgotten() async throws {
        let database = try await Self.database()
        let status = Answer(["status"], at: database)
        #expect(status.output.contains("left     left"), "\(status.output)")
        #expect(status.output.contains("a host that does not come back is listed until"), "\(status.output)")
        #expect(status.output.contains("own      a     open"), "\(status.output)")
        let check = Answer(["check", "--host", "left"], at: database)
        #expect(check.output.contains("own  open by a rule of a\n"))
        #expect(check.output.contains("half  half-open by a rule of a\n"))
        #expect(check.code == .cutOff && check.talk.contains("the link of 'left' has left, "), "\(check.talk)")
        for (name, complaint) in [
            ("a", "the link of 'a' still reports"), ("refused", "the link of 'refused' still reports"),
            ("lefd", "no host is named 'lefd'\nhint: did you mean 'left'?"),
        ] {
            // All or none.
            let result = Answer(["forget", "left", name], at: database)
            #expect(result.code == .failed && result.output.isEmpty)
            #expect(result.talk.contains(complaint), "\(result.talk)")
        }
        let forgotten = Answer(["forget", "left", "left"], at: database)
        #expect(forgotten.code == .done && forgotten.output == "left  forgotten\n")
        #expect(!Answer(["status"], at: database).output.contains("left"))
    }
}
#endif
