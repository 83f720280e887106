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
        #expect(status.hosts.map(\.sendsHeartbeats) == [true, false])
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
        #expect(status.hosts.map(\.sendsHeartbeats) == [false, false])
    }

    // MARK: - Hosts that are silent or have left

    private static func link(_ session: Int64, file: String = "f") -> Registers.Link {
        .init(session: session, file: file, program: "p")
    }

    @Test func aHostThatHasLeftIsListedUntilItIsForgotten() async throws {
        let database = try await TestDatabase()
        let server = try FleetServer(connection: database.connection)
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        _ = try a.beat(Self.link(1), rules: ["x": "5"], ownTrips: [], reading: [])
        _ = try b.beat(Self.link(2, file: "g"), reading: [])
        try a.leave(Self.link(1))
        func hosts() throws -> [FleetStatus.Host] { try server.status(of: "default").hosts }
        #expect(try hosts().map(\.name) == ["b", "a"])
        #expect(try hosts().map(\.link) == [.joined, .left])
        #expect(try hosts().map { $0.leftFor != nil } == [false, true])
        #expect(try hosts().map(\.sendsHeartbeats) == [true, false])
        // No sweep of any link takes it off, however long ago it left.
        try a.connection.run(
            "UPDATE fleet.link SET beat = beat - 864000000000, left_at = left_at - 864000000000 WHERE host = 'a'")
        try b.sweep(having: [], longestWindow: 0, forgetIdleAfter: 1)
        #expect(try hosts().last?.heard ?? 0 >= 864_000_000_000)
        // A link that comes back has not left; nor has a host whose link of an older release comes back.
        _ = try a.beat(Self.link(3), reading: [])
        #expect(try hosts().map(\.link) == [.joined, .joined])
        try a.leave(Self.link(3))
        try a.connection.run("UPDATE fleet.link SET beat = fleet.now(), session = 4 WHERE host = 'a'")
        #expect(try hosts().map(\.link) == [.joined, .joined])
        // A joined host is not forgotten.
        let joined = try #require(try hosts().first)
        #expect(try !server.forget(joined, of: "default"))
        try a.leave(Self.link(4))
        let left = try #require(try hosts().last)
        #expect(left.link == .left)
        #expect(try server.forget(left, of: "default"))
        #expect(try !server.forget(left, of: "default"))
        #expect(try hosts().map(\.name) == ["b"])
    }

    @Test func aSilentLinkIsCutOff() async throws {
        let database = try await TestDatabase()
        let server = try FleetServer(connection: database.connection)
        let registers = try database.registers(host: "a")
        var link = Self.link(1)
        _ = try registers.beat(link, reading: [])
        func host() throws -> FleetStatus.Host? { try server.status(of: "default").hosts.first }
        #expect(try host()?.link == .joined)
        link.trouble = "can't send a change to the server: no"
        _ = try registers.beat(link, reading: [])
        #expect(try host()?.link == .cutOff && host()?.sendsHeartbeats == true)
        try registers.connection.run("UPDATE fleet.link SET beat = beat - 60000000")
        // What it has said last is kept.
        let silent = try #require(try host())
        #expect(silent.link == .cutOff && !silent.sendsHeartbeats && silent.trouble == link.trouble)
        #expect(try server.forget(silent, of: "default"))
        #expect(try host() == nil)
    }

    // MARK: - Circuits that single hosts have opened

    @Test func ownTripsAreReported() async throws {
        let database = try await TestDatabase()
        let server = try FleetServer(connection: database.connection)
        let registers = try database.registers(host: "a")
        let trips = [
            Registers.OwnTrip(circuit: "api", age: 60_000_000, isHalfOpen: false, lastError: "503\u{1B}[31m"),
            .init(circuit: "db", age: 0, isHalfOpen: true, lastError: nil),
        ]
        _ = try registers.beat(Self.link(1), ownTrips: trips, reading: [])
        func found() throws -> [FleetStatus.OwnTrip] { try server.status(of: "default").ownTrips }
        #expect(try found().map(\.circuit) == ["api", "db"])
        #expect(try found().map(\.isHalfOpen) == [false, true])
        #expect(try found().map(\.host) == ["a", "a"])
        #expect(try found().map(\.lastError) == ["503\\u{1B}[31m", nil])
        #expect((60_000_000...120_000_000).contains(try found().first?.age ?? 0))
        // Not told again, they stay.
        _ = try registers.beat(Self.link(1), reading: [])
        #expect(try found().count == 2)
        // What the fleet has opened, too, is no lone trip.
        #expect(try server.status(of: "default").loneTrips.map(\.circuit) == ["api", "db"])
        _ = try registers.makeOpen("api")
        try registers.insertMissing(["db"])
        #expect(try server.status(of: "default").loneTrips.map(\.circuit) == ["db"])
        #expect(try found().count == 2)
        // A link of an older release, which reports none, leaves those of the link before.
        try registers.connection.run("UPDATE fleet.link SET session = 2")
        #expect(try found().isEmpty)
        try registers.connection.run("UPDATE fleet.link SET session = 1, beat = beat - 60000000")
        #expect(try found().isEmpty)
        _ = try registers.beat(Self.link(1), ownTrips: [], reading: [])
        #expect(try found().isEmpty)
        // Rows of anybody.
        for text in ["7", "[]", #"{"session": "1", "circuits": 5}"#, #"{"session": "1", "circuits": {"x": 5}}"#] {
            try registers.connection.run("UPDATE fleet.link SET own_trips = $1::jsonb", [text])
            #expect(try found().allSatisfy { $0.circuit == "x" && $0.age == 0 })
        }
    }

    /// The owner has not yet run `schema apply`.
    @Test func worksWithTheSchemaOfTheReleaseBefore() async throws {
        let database = try await TestDatabase(withSchema: false)
        try database.make("2.0")
        let host = try FleetHost(0, database.connection)
        let server = try FleetServer(connection: database.connection)
        try await Fleet.ending([host]) {
            try await Fleet.wait("the host is joined") { host.isJoined }
            host.fail(5)
            #expect(host.isOpen)
            let status = try server.status(of: "default")
            #expect(status.hosts.map(\.link) == [.joined])
            #expect(status.ownTrips.isEmpty && !host.wasCutOff)
        }
        // There is no way to say that it has left.
        #expect(try server.status(of: "default").hosts.isEmpty)
    }

    @Test func aHostsOwnTripIsReportedByItsLink() async throws {
        try await Fleet.with(2) { hosts, database in
            let server = try FleetServer(connection: database.connection)
            func trips() throws -> [FleetStatus.OwnTrip] { try server.status(of: "default").loneTrips }
            hosts[0].fail(5)
            #expect(hosts[0].isOpen)
            try await Fleet.wait("it is reported") { try trips().map(\.host) == ["h0"] }
            #expect(try trips().first?.circuit == "api")
            #expect(!hosts[1].isOpen)
            try await Fleet.close([hosts[0]])
            try await Fleet.wait("it is over") { try trips().isEmpty }
        }
    }

    // MARK: - The schema

    @Test func theSchemaIsMadeOnceAndChecked() async throws {
        let database = try await TestDatabase(withSchema: false)
        let server = try FleetServer(connection: database.connection)
        #expect(try server.schemaVersion() == nil)
        #expect(#expect(throws: FleetError.self) { try server.requireSchema() }?.code == .wrongSchema)
        try server.makeSchema()
        #expect(try server.schemaVersion() == "2.1")
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
