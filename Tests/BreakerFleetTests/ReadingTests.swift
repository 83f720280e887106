#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Testing

@testable import BreakerFleet

/// Registers as they are read, whatever stands in the tables.
@Suite(.timeLimit(.minutes(10))) struct ReadingTests {
    @Test func readsTheNamesThatAreAskedFor() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        #expect(try registers.read(["x"]).registers.isEmpty)
        try registers.insertMissing(["x", "y", "z"])
        let first = try registers.one("x")
        try registers.insertMissing(["x", "{\"q\\", "w"])
        #expect(try registers.one("x")?.generation == first?.generation)
        let read = try registers.read(["x", "{\"q\\", "absent"])
        #expect(Set(read.registers.map(\.name)) == ["x", "{\"q\\"])
        #expect(read.registers.allSatisfy { $0.state == .closed && $0.trips == 0 && $0.hold == nil && $0.lease == nil })
    }

    @Test func readsWhatChangedSince() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        let names: Names = ["x", "y"]
        try registers.insertMissing(["x", "y", "other"])
        let first = try registers.read(names)
        #expect(first.registers.count == 2)
        let settled = try await untilNothingIsNew(first) { try registers.read(names, changedSince: $0) }
        let generation = try registers.makeOpen("x", for: 0)
        let second = try registers.read(names, changedSince: settled.seen)
        #expect(second.registers.map(\.name) == ["x"])
        let old = try await untilNothingIsNew(second) { try registers.read(names, changedSince: $0) }
        // The right to probe is no new generation, but is read.
        _ = try registers.perform(.elect(generation: generation), on: "x")
        #expect(try registers.read(names, changedSince: old.seen).registers.first?.lease?.host == "a")
        // What a sweep writes is no change.
        let third = try await untilNothingIsNew(try registers.read(names)) {
            try registers.read(names, changedSince: $0)
        }
        try registers.connection.run("UPDATE fleet.circuit SET used = 0")
        try registers.sweep(having: names, longestWindow: 0, forgetIdleAfter: nil)
        #expect(try registers.read(names, changedSince: third.seen).registers.isEmpty)
        // A number of a server that has had more transactions.
        #expect(try registers.read(names, changedSince: "999999999999").registers.count == 2)
    }

    /// A transaction that began before the reading, and commits after it, is in the next reading.
    @Test func readsWhatCommitsLater() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        try a.insertMissing(["x", "y"])
        try b.connection.run("BEGIN")
        try b.set("trips = 7", of: "x")
        // Later ones that commit first.
        for _ in 0..<10 { try a.set("trips = 1", of: "y") }
        let first = try a.read(["x", "y"])
        let second = try a.read(["x", "y"], changedSince: first.seen)
        try b.connection.run("COMMIT")
        let third = try a.read(["x", "y"], changedSince: second.seen)
        #expect(third.registers.first { $0.name == "x" }?.trips == 7)
    }

    @Test(arguments: [-1, 1]) func aServersClockThatWasSetCostsOneSpan(_ hours: Int) async throws {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        let generation = try registers.makeOpen("x", for: 60_000_000)
        try registers.set(
            """
            hold = 'open', hold_said = fleet.now() - 1000000, hold_number = 1, hold_for = 60000000, lease_host = 'b',
            lease_ends = fleet.now() + 60000000, lease_for = 60000000
            """, of: "x")
        try database.setClock(ahead: hours * 3_600)
        let register = try #require(try registers.one("x"))
        #expect(register.left == 0 && register.lease == nil)
        // A hold ends by the clock of each host's file: to those that have heard of it the server's says nothing.
        #expect((register.hold == nil) == (hours > 0))
        #expect(register.openFor == 60_000_000)
        #expect(try registers.perform(.elect(generation: generation), on: "x") != .refused)
        // People are heard as before: what is said is later than all that the host has heard.
        let newest = try #require(register.command(.hold)?.lamportTime)
        for (index, saying) in [Saying.hold(.open, for: nil), .release, .reset].enumerated() {
            var command = try registers.command(saying)
            command.lamportTime = max(command.lamportTime ?? 0, newest + 1 + Int64(index))
            #expect(try registers.perform(.send(command), on: "x") != .refused)
        }
        // A new span has its length.
        _ = try registers.makeOpen("y", for: 60_000_000)
        #expect((1...60_000_000).contains(try registers.one("y")?.left ?? 0))
    }

    /// Words with damaged stamps: the register has no such word.
    private static let damagedCommands = [
        "hold_said = 9007199254740993, hold_number = 1", "reset_said = 9223372036854775807, reset_number = 1",
        "reset_said = NULL, reset_number = 5", "reset_said = 5, reset_number = NULL",
        "reset_said = -5, reset_number = -5",
        "hold = 'open', hold_said = 9007199254740992, hold_number = 1, hold_for = 1",
        "hold = 'closed', hold_said = -9223372036854775808, hold_number = 1, hold_for = 9223372036854775807",
        "hold = 'open', hold_said = fleet.now() + 31622400000000 + 60000000, hold_number = 1",
    ]
    private static let badValues: [(values: String, isRead: Bool)] = [
        // Left out.
        ("state = 'ajar'", false), ("state = ''", false), ("generation = 0", false), ("generation = -5", false),
        ("generation = 9223372036854775807", false), ("hold = 'loosely'", false), ("generation = NULL", false),
        ("state = NULL", false),
        // Clamped.
        ("since = NULL, trips = NULL, used = NULL", true),
        ("hold = 'open', hold_said = 1, hold_number = -9223372036854775808, hold_for = -5", true),
        ("since = -9223372036854775808", true), ("since = 9223372036854775807", true), ("trips = -3", true),
        ("open_until = 9223372036854775807, open_for = 9223372036854775807", true),
        ("open_until = -9223372036854775808, open_for = -1", true), ("open_until = NULL, open_for = NULL", true),
        ("open_until = fleet.now() + 1000000, open_for = NULL", true),
        ("hold = 'closed', hold_said = NULL, hold_for = 5", true),
        ("lease_host = 'b', lease_ends = 9223372036854775807, lease_for = 9223372036854775807", true),
        ("lease_host = 'b', lease_ends = NULL", true), ("reason = repeat('x', 100000), said_by = E'a\\nb'", true),
    ]

    /// All in one database: to make a database takes longer than to try a value.
    @Test func badValuesDoNoHarm() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        try Self.dropChecks(registers.connection)
        for (values, isRead) in Self.badValues + Self.damagedCommands.map({ ($0, true) }) {
            try registers.connection.run("DELETE FROM fleet.circuit")
            let generation = try registers.makeOpen("x")
            _ = try registers.make("sound")
            try registers.set(values, of: "x")
            let read = try registers.read(["x", "sound"]).registers
            #expect(read.count == (isRead ? 2 : 1), "\(values)")
            if let register = read.first(where: { $0.name == "x" }) { Self.expectBounds(of: register, values) }
            // Requests are carried out, refused or fail in order.
            for request in [
                Request.elect(generation: generation), .renew(generation: generation),
                .verdict(generation: generation, .closed, isElected: false),
                .send(try registers.command(.reset)), .send(try registers.command(.hold(.open, for: 5))),
            ] {
                do throws(FleetError) { _ = try registers.perform(request, on: "x") } catch {
                    #expect(error.code == .unavailable, "\(values)")
                }
            }
            _ = try registers.count([.init(circuit: "sound", counting: .init(failures: 1, window: 1))])
            #expect(registers.connection.isOpen, "\(values)")
        }
    }

    private static func expectBounds(of register: Register, _ values: String) {
        let lengths = 0...FleetLimits.duration
        #expect([register.left, register.openFor, register.age].allSatisfy(lengths.contains), "\(values)")
        #expect(register.trips >= 0, "\(values)")
        #expect(register.hold?.left.map { (1...FleetLimits.duration).contains($0) } ?? true, "\(values)")
        #expect(register.lease.map { (1...FleetLimits.duration).contains($0.left) } ?? true, "\(values)")
        #expect((register.reason?.utf8.count ?? 0) <= 1_000, "\(values)")
        #expect(register.by?.contains("\n") != true, "\(values)")
        let isDamaged = Self.damagedCommands.contains(values)
        #expect(register.damagedCommands.count == (isDamaged ? 1 : 0), "\(values)")
        #expect(register.commands.isEmpty || !isDamaged, "\(values)")
    }

    static func dropChecks(_ connection: ServerConnection) throws {
        let found = try connection.run(
            """
            SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
            WHERE connamespace = 'fleet'::regnamespace AND contype = 'c'
            UNION ALL SELECT format('ALTER TABLE %s ALTER %I DROP NOT NULL', attrelid::regclass, attname) FROM pg_attribute
            WHERE attrelid = 'fleet.circuit'::regclass AND attnum > 2 AND attnotnull
            """)
        for statement in found.compactMap({ $0.text(0) }) { try connection.run(statement) }
    }
}
#endif
