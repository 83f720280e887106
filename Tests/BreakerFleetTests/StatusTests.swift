#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Testing

@testable import BreakerFleet

/// What a person is told of a fleet, and of the schema.
@Suite(.timeLimit(.minutes(10))) struct StatusTests {
    @Test func showsHostsAndRegisters() async throws {
        let database = try await TestDatabase()
        let server = try FleetServer(connection: database.connection)
        #expect(try server.status(of: "default").hosts.isEmpty)
        let hosts = try ["a", "b"].map { try database.registers(host: $0) }
        for (number, host) in hosts.enumerated() {
            let link = Registers.Link(session: Int64(number), file: "f\(number)", program: "shop (1)\u{1B}[31m")
            _ = try host.beat(link, rules: ["api": "\(number) failures", "db": "2"], reading: [])
        }
        _ = try hosts[0].make("db")
        let generation = try hosts[0].makeOpen("api", for: 0)
        _ = try hosts[1].perform(.elect(generation: generation), on: "api")
        // The other one is gone.
        try database.connect().run("UPDATE fleet.link SET beat = beat - 60000000 WHERE host = 'a'")

        let status = try server.status(of: "default")
        #expect(status.hosts.map(\.name) == ["b", "a"])
        #expect(status.hosts.map(\.isJoined) == [true, false])
        #expect(status.hosts.map(\.circuits) == [2, 2])
        #expect(status.hosts[0].program == "shop (1)\\u{1B}[31m")
        #expect(try #require(status.hosts.first { $0.name == "a" }).beat >= 60_000_000)
        #expect(status.circuits.map(\.name) == ["api", "db"])
        #expect(status.circuits.map(\.isOpen) == [true, false])
        #expect(status.circuits[0].lease?.host == "b")
        #expect(status.circuits[0].reason == "5 failures")
        // A host that is gone judges nothing.
        #expect(status.differing.isEmpty)
        #expect(try server.status(of: "another").circuits.isEmpty)
    }

    @Test func rowsOfAnybodyAreReported() async throws {
        let database = try await TestDatabase()
        try database.connect().run(
            """
            INSERT INTO fleet.link (fleet, host, session, file, place, program, beat, rules)
            VALUES ('default', 'x', 1, '', '', '', \(FleetLimits.stamp), '[1]'), ('default', 'y', 1, '', '', '', 0, '7')
            """)
        let status = try FleetServer(connection: database.connection).status(of: "default")
        #expect(status.hosts.map(\.name) == ["x", "y"])
        #expect(status.hosts.map(\.circuits) == [0, 0])
        // A beat from the future is none.
        #expect(status.hosts.map(\.isJoined) == [false, false])
    }

    @Test func theSchemaIsMadeOnceAndChecked() async throws {
        let database = try await TestDatabase(withSchema: false)
        let server = try FleetServer(connection: database.connection)
        #expect(try server.schemaVersion() == nil)
        #expect(#expect(throws: FleetError.self) { try server.requireSchema() }?.code == .wrongSchema)
        try server.makeSchema()
        #expect(try server.schemaVersion() == "2.0")
        try server.makeSchema()
        #expect(try server.missingRights().isEmpty)
        #expect(try server.mayChangeSchema())
        try database.connect().run("UPDATE fleet.meta SET version = 3000")
        #expect(#expect(throws: FleetError.self) { try server.makeSchema() }?.code == .wrongSchema)
    }

    @Test func whatARoleLacksIsReported() async throws {
        let database = try await TestDatabase()
        let owner = try database.connect()
        let role = "lacks_\(database.name)"
        for statement in [
            "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA fleet TO \(role)",
            "GRANT SELECT ON ALL TABLES IN SCHEMA fleet TO \(role)",
            "GRANT INSERT, UPDATE, DELETE ON fleet.circuit, fleet.failure, fleet.rate TO \(role)",
        ] { try owner.run(statement) }
        let server = try FleetServer(connection: database.server.connection(database: database.name, user: role))
        #expect(try server.missingRights() == ["DELETE", "INSERT", "UPDATE"].map { "\($0) on fleet.link" })
        #expect(try !server.mayChangeSchema())
        try owner.run("DROP OWNED BY \(role)")
        #expect(try server.missingRights() == ["USAGE on schema fleet"])
        try owner.run("DROP ROLE \(role)")
    }
}
#endif
