#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Foundation
import Testing

@testable import BreakerFleet

/// An older schema is moved in one transaction, with what people have said.
@Suite(.timeLimit(.minutes(10))) struct SchemaMoveTests {
    private static let minute: Int64 = 60_000_000

    /// A database with the schema as version 1.0 made it, and a row of each kind.
    private static func version1() async throws -> (TestDatabase, ServerConnection) {
        let database = try await TestDatabase(withSchema: false)
        let owner = try database.connect()
        try database.make("1.0")
        func insert(_ name: String, _ values: [String: String]) throws {
            let all = [
                "fleet": "'default'", "name": "'\(name)'", "generation": "7", "state": "'closed'",
                "since": "fleet.now() - \(5 * Self.minute)", "used": "fleet.now()",
            ].merging(values) { $1 }
            let columns = all.keys.sorted()
            try owner.run(
                """
                INSERT INTO fleet.circuit (\(columns.joined(separator: ", ")))
                VALUES (\(columns.map { all[$0] ?? "" }.joined(separator: ", ")))
                """)
        }
        let said = "fleet.now() - \(Self.minute)"
        try insert("plain", [:])
        try insert(
            "open",
            [
                "state": "'open'", "open_until": "fleet.now() + \(9 * Self.minute)", "open_for": "\(14 * Self.minute)",
            ])
        try insert("held", ["hold": "'open'", "hold_by": "'ann'", "hold_reason": "'a move'", "op_at": said])
        try insert(
            "timed",
            [
                "hold": "'closed'", "hold_until": "fleet.now() + \(Self.minute)", "hold_for": "\(2 * Self.minute)",
                "op_at": said,
            ])
        try insert("released", ["hold_by": "'bob'", "op_at": said])
        try insert("reset", ["is_reset": "true", "said_by": "'ann'", "reason": "'it is well'"])
        try owner.run("INSERT INTO fleet.failure VALUES ('default', 'plain', 1, 1, 'a', 5)")
        try owner.run("INSERT INTO fleet.rate VALUES ('default', 'plain', 'a', 1, 1, 1, 1, 5)")
        try owner.run("INSERT INTO fleet.op VALUES ('default', 'plain', 1, 1, 5)")
        try owner.run("INSERT INTO fleet.link VALUES ('default', 'a', 1, '7', 'p', fleet.now())")
        return (database, owner)
    }

    @Test func keepsWhatPeopleHaveSaid() async throws {
        let (database, owner) = try await Self.version1()
        let registers = try database.registers(host: "a")
        #expect(#expect(throws: FleetError.self) { try registers.checkSchema() }?.code == .wrongSchema)
        let timedFor = try database.number("SELECT hold_until - op_at FROM fleet.circuit WHERE name = 'timed'")
        // Run twice it changes nothing more.
        for _ in 0..<2 { try FleetSchema.install(on: owner) }
        try registers.checkSchema()
        let all = Dictionary(
            try registers.read(["plain", "open", "held", "timed", "released", "reset"]).registers.map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        #expect(all.count == 6)
        #expect(all.values.allSatisfy { $0.generation == 7 })
        #expect(all["open"]?.state == .open && all["open"]?.commands == [])
        #expect(all["plain"]?.commands == [])
        let held = try #require(all["held"]?.command(.hold))
        #expect(held.hold == .open && held.holdFor == nil && held.by == "ann" && held.reason == "a move")
        #expect(held.age >= Self.minute)
        let timed = try #require(all["timed"]?.command(.hold))
        #expect(timed.hold == .closed && timed.holdFor == timedFor)
        let released = try #require(all["released"]?.command(.hold))
        #expect(released.hold == nil && released.by == "bob")
        let reset = try #require(all["reset"]?.command(.reset))
        #expect(reset.by == "ann" && reset.reason == "it is well" && reset.age >= 5 * Self.minute)
        // The hosts tell all of this anew.
        for table in ["failure", "rate", "link"] {
            #expect(try database.number("SELECT count(*) FROM fleet.\(table)") == 0)
        }
        // A moved schema is the one that is made where there was none.
        let made = try await TestDatabase()
        #expect(try Self.parts(of: owner) == Self.parts(of: made.connect()))
    }

    /// Columns, keys, checks and indexes, in whatever order.
    private static func parts(of connection: ServerConnection) throws -> Set<String> {
        let rows = try connection.run(
            """
            SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
            FROM information_schema.columns WHERE table_schema = 'fleet'
            UNION ALL
            SELECT concat_ws(' ', c.relname, pg_get_constraintdef(k.oid))
            FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid WHERE k.connamespace = 'fleet'::regnamespace
            UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'fleet'
            """)
        return Set(rows.compactMap { $0.text(0) })
    }

    @Test func aMinorVersionKeepsAllRows() async throws {
        let database = try await TestDatabase(withSchema: false)
        try database.make("2.0")
        let registers = try database.registers(host: "a")
        var old = registers
        old.schema = 2_000
        let generation = try old.makeOpen("x")
        try old.say(.hold(.open, for: nil), on: "x")
        _ = try old.beat(.init(session: 1, file: "f", program: "p"), rules: ["x": "5"], reading: [])
        let server = try FleetServer(connection: database.connection)
        #expect(try server.schemaVersion() == "2.0")
        for _ in 0..<2 {
            try server.makeSchema()
            #expect(try server.schemaVersion() == "2.1")
            #expect(try registers.one("x")?.generation == generation)
            #expect(try registers.one("x")?.hold?.by == "ann")
            #expect(try server.status(of: "default").hosts.map(\.link) == [.joined])
            #expect(try server.status(of: "default").hosts.map(\.circuits) == [1])
        }
        let made = try await TestDatabase()
        #expect(try Self.parts(of: database.connect()) == Self.parts(of: made.connect()))
        // The link that was there goes on, and so does one of this release.
        _ = try old.beat(.init(session: 1, file: "f", program: "p"), reading: [])
        _ = try registers.beat(.init(session: 2, file: "f", program: "p"), ownTrips: [], reading: [])
    }

    @Test func aStatementThatFailsLeavesVersion1() async throws {
        let (database, owner) = try await Self.version1()
        // Something of the owner's depends on a column that goes.
        try owner.run("CREATE VIEW public.held AS SELECT name FROM fleet.circuit WHERE hold_until IS NOT NULL")
        #expect(throws: FleetError.self) { try FleetSchema.install(on: owner) }
        #expect(try database.number("SELECT version FROM fleet.meta") == 1_000)
        #expect(try database.number("SELECT count(*) FROM fleet.op") == 1)
        #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE hold_until IS NOT NULL") == 1)
        try owner.run("DROP VIEW public.held")
        try FleetSchema.install(on: owner)
        #expect(try database.number("SELECT version FROM fleet.meta") == FleetSchema.version)
    }
}
#endif
