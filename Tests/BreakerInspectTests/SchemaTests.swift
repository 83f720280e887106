import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// All JSON that the tool prints meets the schema in docs/.
@Suite(.timeLimit(.minutes(10))) struct SchemaTests {
    static func schema() throws -> JSONSchema {
        try JSONSchema(contentsOf: Package.root.appendingPathComponent("docs/breaker-inspect.schema.json"))
    }

    /// Circuits of all states, one with all there is, and workers.
    private func shop(_ clock: ManualHostClock) throws -> (Shop, CallPermit) {
        let shop = try Shop(clock: clock)
        let half = try shop.circuit("half", group: "shop", failures: 2, error: "503 \u{202E}")
        clock.advance(by: .seconds(30))
        let permit: CallPermit = try half.admit()
        try shop.fillWithStates()
        var consecutive = CircuitBreaker.Config(
            name: "consecutive", recoveryTimeout: .seconds(30), maxFailures: 1, rollingWindow: .seconds(60))
        consecutive.trip = .consecutiveFailures(3)
        try shop.store.breaker(consecutive).recordFailure(Boom())
        var calls = CallPolicy()
        calls.measuresDurations = true
        let rate = try shop.store.breaker(
            .init(
                name: "rate", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(60)),
                slow: SlowCallRule(longerThan: .seconds(1)), mode: .observing),
            calls: calls)
        try rate.run { clock.advance(by: .milliseconds(3)) }
        rate.recordFailure(Boom())
        _ = try shop.store.breaker(
            .init(name: "a closed", recoveryTimeout: .seconds(31), maxFailures: 2, rollingWindow: .seconds(60)))
        return (shop, permit)
    }

    static let lines: [(line: [String], definition: String)] = [
        (["list"], "list"), (["list", "--state", "open"], "list"), (["list", "z*"], "list"),
        (["show", "half"], "show"), (["show", "consecutive"], "show"), (["show", "d held open"], "show"),
        (["show", "e held closed"], "show"), (["show", "b open"], "show"), (["show", "rate"], "show"),
        (["check"], "check"), (["check", "a*"], "check"), (["wait", "half", "--for", "half-open"], "wait"),
        (["wait", "half", "--for", "open", "--timeout", "1ms"], "wait"),
        (["history"], "history"), (["history", "half", "--limit", "1"], "history"), (["workers"], "workers"),
        (["doctor"], "doctor"), (["help"], "help"), (["help", "reset"], "help"), (["list", "--help"], "help"),
        (["--version"], "versions"),
        (["run", "b open", "--", "true"], "refused"), (["run", "d held open", "--", "true"], "refused"),
        (["admit", "a closed"], "admitted"), (["admit", "d held open"], "refused"),
        (["reset", "b open", "--dry-run"], "changes"), (["hold", "open", "b open", "--reason", "x"], "changes"),
        (["release", "--all", "--yes"], "changes"), (["reset", "z*"], "changes"),
        (["probe", "b open", "--dry-run"], "changes"),
        (["forget", "b open", "--yes", "--force"], "changes"), (["reset", "--all", "--yes"], "changes"),
    ]

    @Test func allDocumentsMeetIt() throws {
        let schema = try Self.schema()
        let clock = ManualHostClock()
        let (shop, permit) = try self.shop(clock)
        defer { permit.discard() }
        for (line, definition) in Self.lines {
            let console = RecordingConsole()
            console.inFurtherPauses = {
                clock.advance(by: .seconds(1))
                return .isOver
            }
            let output = shop.inspect(arguments: ["--json"] + line, on: console).output
            #expect(output.hasSuffix("\n") && output.count { $0 == "\n" } == 1, "\(line)")
            #expect(schema.complaints(about: output, as: definition) == [], "\(line)")
            #expect(schema.complaints(about: output) == [], "\(line)")
            #expect(try Self.isSorted(output), "\(line)")
        }
        // No verb is left out, but for those whose output is of another kind, and the one that takes the file away.
        let verbs = Set(Self.lines.compactMap { $0.line.first }).union([
            CompletionsVerb.name, MetricsVerb.name, ReportVerb.name, SetAsideVerb.name,
            FinishVerb.name, RecordVerb.name,
        ])
        #expect(verbs.isSuperset(of: Tool.verbs.map { $0.name }))
    }

    /// Nobody but a later version knows at how many failures its own rule trips.
    @Test(arguments: [["list"], ["show", "a"]])
    func countOfALaterRuleIsNull(line: [String]) throws {
        let shop = try Shop()
        try shop.circuit("a")
        shop.store.close()
        let later = "CREATE TABLE later (x INTEGER) STRICT; PRAGMA user_version = 3001"
        try Shop.sqlite(shop.path, "UPDATE circuit SET rules = json_set(rules, '$.trip.rule', 'later'); \(later)")
        let output = shop.inspect(arguments: line + ["--json"]).output
        #expect(try Self.schema().complaints(about: output, as: line[0]) == [])
        #expect(output.contains(#""failureLimit":null,"#))
        let trip = #""trip":{"count":null,"minimumCalls":null,"rule":"later","share":null,"windowMs":null}"#
        #expect(output.contains(trip) == (line[0] == "show"))
    }

    @Test func allLinesMeetIt() throws {
        let schema = try Self.schema()
        let clock = ManualHostClock()
        let (shop, permit) = try self.shop(clock)
        defer { permit.discard() }
        let lists = RecordingConsole()
        lists.inPauses = [
            {
                try? shop.store.reset("b open", by: "ann")
                try? shop.store.forget("d held open")
                return .isOver
            }
        ]
        let watched = shop.inspect("list", "--watch", "--json", on: lists).output.split(separator: "\n")
        try #require(watched.count == 3)
        for (line, definition) in zip(watched, ["list", "watchChanged", "watchForgotten"]) {
            #expect(schema.complaints(about: String(line), as: definition) == [])
            #expect(schema.complaints(about: String(line)) == [])
        }
        let histories = RecordingConsole()
        histories.inPauses = [
            {
                try? shop.store.reset("half", by: "ann", reason: "x")
                return .isOver
            }
        ]
        let followed = shop.inspect("history", "--follow", "--json", on: histories).output.split(separator: "\n")
        try #require(followed.count == 2)
        for (line, definition) in zip(followed, ["history", "historyEvent"]) {
            #expect(schema.complaints(about: String(line), as: definition) == [])
        }
    }

    /// What does not meet the schema is found.
    @Test(arguments: [
        (#"{"changes":[],"dryRun":false,"unreadable":[]}"#, "lacks version"),
        (#"{"changes":[],"dryRun":0,"unreadable":[],"version":1}"#, "is no"),
        (#"{"changes":[],"dryRun":false,"more":1,"unreadable":[],"version":1}"#, "has more"),
        (#"{"changes":[],"dryRun":false,"unreadable":[],"version":2}"#, "is not 1"),
        (
            #"{"changes":[{"from":"a","name":null,"to":"b"}],"dryRun":false,"unreadable":[],"version":1}"#,
            "$.changes[0].name is no"
        ),
        ("[]", "is no"), ("{", "it is no JSON"),
    ])
    func findsWhatDoesNotMeetIt(text: String, complaint: String) throws {
        let complaints = try Self.schema().complaints(about: text, as: "changes")
        #expect(complaints.contains { $0.contains(complaint) }, "\(complaints)")
    }

    /// Whether all keys stand in order.
    private static func isSorted(_ text: String) throws -> Bool {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let keys = text.matches(of: #/"([A-Za-z]+)":/#).map { String($0.1) }
        return Self.keys(of: value) == keys
    }

    /// The keys of a value in the order in which they must stand.
    private static func keys(of value: Any) -> [String] {
        if let items = value as? [Any] { return items.flatMap { Self.keys(of: $0) } }
        guard let members = value as? [String: Any] else { return [] }
        return members.sorted { $0.key < $1.key }.flatMap { [$0.key] + Self.keys(of: $0.value) }
    }
}
