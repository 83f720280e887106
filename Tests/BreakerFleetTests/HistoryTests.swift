#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Testing

@testable import BreakerFleet

/// What the server keeps of the changes of a circuit.
@Suite(.timeLimit(.minutes(10))) struct HistoryTests {
    private static func kinds(_ registers: Registers, _ name: String = "x") throws -> [String] {
        try registers.history(of: name).map { "\($0.kind.rawValue) \($0.host ?? "-") \($0.by ?? "-")" }
    }

    @Test func keepsTripsProbesAndCommands() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let first = try a.makeOpen("x", for: 0)
        let second = try #require(
            try b.perform(.verdict(generation: first, .open(for: 0), isElected: false), on: "x").generation)
        try a.say(.hold(.open, for: nil), on: "x")
        try a.say(.hold(.closed, for: 60_000_000), on: "x")
        try b.say(.release, on: "x")
        try b.say(.probe, on: "x")
        let third = try #require(try a.one("x")?.generation)
        #expect(third > second)
        _ = try b.perform(.verdict(generation: third, .closed, isElected: true), on: "x")
        try a.say(.reset, on: "x")
        #expect(
            try Self.kinds(a) == [
                "opened a -", "reopened b -", "held-open a ann", "held-closed a ann", "released b ann",
                "probe-ordered b ann", "closed b -", "reset a ann",
            ])
        #expect(try a.history(of: "x").first?.reason == "5 failures")
        #expect(try a.history(of: "x").last?.reason == "drill")
        #expect(try a.history(of: "y").isEmpty)
        // What is refused has not happened.
        #expect(try a.perform(.trip(generation: 1, openFor: 1, reason: "no"), on: "x") == .refused)
        #expect(try a.say(.hold(.open, for: nil), age: 3_600_000_000, on: "x") == .refused)
        #expect(try a.history(of: "x").count == 8)
    }

    /// A command of a host that was cut off stands where it was given.
    @Test func ordersEventsByTheirTime() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.makeOpen("x")
        try registers.say(.reset, age: 60_000_000, on: "x")
        #expect(try Self.kinds(registers) == ["reset a ann", "opened a -"])
        #expect(try registers.history(of: "x")[0].age >= 60_000_000)
    }

    @Test func keepsTheNewestFifty() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        for number in 0..<60 {
            let command = try registers.command(.reset, by: "\(number)")
            #expect(try registers.perform(.send(command), on: "x") != .refused)
        }
        let events = try registers.history(of: "x")
        #expect(events.map(\.by) == (10..<60).map { "\($0)" })
    }

    @Test func keepsOwnTripsOnce() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        try a.insertMissing(["x", "y"])
        func changed() throws -> Int64 {
            try database.number("SELECT changed::text::bigint FROM fleet.circuit WHERE name = 'x'")
        }
        let before = try changed()
        let trip = Registers.OwnTrip(circuit: "x", age: 5_000_000, isHalfOpen: false, lastError: "503")
        // A link that begins again says it again.
        for _ in 0..<2 { try a.record([.tripped(trip), .ended(circuit: "y"), .ended(circuit: "absent")]) }
        try b.record([.tripped(trip)])
        #expect(try Self.kinds(a) == ["own-trip a -", "own-trip b -"])
        #expect(try a.history(of: "x").allSatisfy { $0.reason == "503" && $0.age >= 5_000_000 })
        for _ in 0..<2 { try a.record([.ended(circuit: "x")]) }
        #expect(try Self.kinds(a).last == "own-end a -")
        try a.record([.tripped(trip)])
        #expect(try Self.kinds(a).count == 4)
        #expect(try a.history(of: "y").isEmpty)
        // No link reads the register again because of it.
        #expect(try changed() == before)
    }

    @Test func aLinkTellsItsOwnTrips() async throws {
        try await Fleet.with(2) { hosts, database in
            let registers = try database.registers(host: "observer")
            hosts[0].fail(5)
            try await Fleet.wait("it is told") { try Self.kinds(registers, "api") == ["own-trip h0 -"] }
            try await Fleet.close([hosts[0]])
            try await Fleet.wait("its end is told") {
                try Self.kinds(registers, "api") == ["own-trip h0 -", "own-end h0 -"]
            }
        }
    }

    @Test func damagedHistoriesDoNoHarm() async throws {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        _ = try registers.make("x")
        for text in [#"[5, null, "a", [], {}]"#, #"[{"at": "x", "event": "opened"}, {"at": 1e30, "event": "ajar"}]"#] {
            try registers.connection.run("UPDATE fleet.circuit SET history = $1::jsonb", [text])
            #expect(try registers.history(of: "x").allSatisfy { $0.age == 0 && $0.kind == .opened })
            try registers.record([.ended(circuit: "x")])
            #expect(try registers.say(.reset, on: "x") != .refused)
            #expect(try registers.history(of: "x").contains { $0.kind == .reset })
        }
    }

    @Test func theReleaseBeforeKeepsNone() async throws {
        let database = try await TestDatabase(withSchema: false)
        try database.make("2.0")
        var registers = try database.registers(host: "a")
        registers.schema = 2_000
        let generation = try registers.makeOpen("x", for: 0)
        #expect(
            try registers.perform(.verdict(generation: generation, .closed, isElected: false), on: "x") != .refused)
        try registers.say(.reset, on: "x")
        try registers.record([.ended(circuit: "x")])
        let server = try FleetServer(connection: database.connection)
        let circuit = try #require(try server.status(of: "default").circuits.first)
        let error = #expect(throws: FleetError.self) { try server.history(of: circuit, of: "default") }
        #expect(error?.code == .wrongSchema && error?.message.contains("schema apply") == true)
        // A command of an operator reaches hosts all the same.
        #expect(try server.give(.hold(.open, for: nil), to: circuit, of: "default", by: "ann", reason: nil))
    }
}
#endif
