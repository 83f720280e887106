#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// A server that lost its newest commits gets them back from the links.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FailoverTests {
    /// A server as it was at some moment.
    private struct Past {
        let owner: ServerConnection

        init(_ database: TestDatabase) throws {
            self.owner = try database.connect()
            for table in ["circuit", "failure"] {
                try self.owner.run("CREATE TABLE public.\(table) AS SELECT * FROM fleet.\(table)")
            }
        }

        /// All connections end, and what the links come back to is that past.
        func failOver() throws {
            try self.owner.run("BEGIN")
            try self.owner.run("LOCK TABLE fleet.circuit, fleet.failure")
            try self.owner.endOthers()
            for statement in [
                "DELETE FROM fleet.circuit", "DELETE FROM fleet.failure",
                "INSERT INTO fleet.circuit SELECT * FROM public.circuit",
                "INSERT INTO fleet.failure SELECT * FROM public.failure", "COMMIT",
            ] {
                try self.owner.run(statement)
            }
        }
    }

    private static let generation = "SELECT generation FROM fleet.circuit"
    private static let config = FleetHost.config(recovery: .seconds(30))

    @Test func aLostTripStaysOpen() async throws {
        try await Fleet.with(3, config: Self.config) { hosts, database in
            hosts[0].fail(3)
            hosts[1].fail(1)
            try await Fleet.wait("the failures are told") {
                try database.number("SELECT count(*) FROM fleet.failure") == 4
            }
            let past = try Past(database)
            let old = try database.number(Self.generation)
            hosts[1].fail()
            try await Fleet.wait("all are open") { hosts.allSatisfy(\.isOpen) }
            let generation = try database.number(Self.generation)
            #expect(generation > old)
            try past.failOver()
            try await Fleet.wait("the register is as before") {
                #expect(hosts.allSatisfy { $0.isOpen })
                return try database.number(Self.generation) == generation
            }
            try await Fleet.wait("all are joined") { hosts.allSatisfy(\.isJoined) }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(try database.number(Self.generation) == generation)
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE state = 'open'") == 1)
            for host in hosts {
                #expect(host.isOpen)
                #expect(try host.events(.tripped).count == 1)
                #expect(try host.events(.closed).isEmpty)
                #expect(try host.events(.reopened).isEmpty)
            }
        }
    }

    /// Each half of a fleet had a primary of its own, and a person's word; then one primary is gone.
    @Test(arguments: [false, true]) func ofTwoPrimariesTheLaterGenerationWins(isHoldLater: Bool) async throws {
        let servers = [try await PostgresServer(), try await PostgresServer()]
        let databases = try servers.map { try TestDatabase(on: $0) }
        let proxy = try await FleetProxy(to: servers[0])
        let near = try FleetHost(0, databases[0].connection, config: Self.config)
        let far = try FleetHost(1, proxy.connection(to: databases[0]), config: Self.config)
        try await Fleet.ending([near, far]) {
            try await Fleet.wait("both are joined") { near.isJoined && far.isJoined }
            try await Fleet.trip([near, far])
            try await proxy.lead(to: servers[1])
            try await Fleet.wait("the other primary is told of the trip") {
                try databases[1].number("SELECT count(*) FROM fleet.circuit WHERE state = 'open'") == 1
            }
            func reset() async throws {
                try synchronously { try near.store.reset("api", by: "ann") }
                try await Fleet.wait("the one primary is closed") {
                    try databases[0].number("SELECT count(*) FROM fleet.circuit WHERE state = 'closed'") == 1
                }
            }
            func hold() async throws {
                try synchronously { try far.store.hold("api", .open, by: "bob") }
                // The link reads what became of its word before its next beat. A link that is cut off before then has
                // no register to offer, and says its word once more instead.
                try await Fleet.wait("the other primary is held, and the link there knows") {
                    try databases[1].number(
                        """
                        SELECT count(*) FROM fleet.circuit AS c, fleet.link AS l
                        WHERE c.hold = 'open' AND l.host = 'h1' AND l.beat > c.generation
                        """) == 1
                }
            }
            if isHoldLater {
                try await reset()
                try await hold()
            } else {
                try await hold()
                try await reset()
            }
            #expect(!near.isOpen)
            #expect(try far.isOpen && far.snapshot()?.hold?.by == "bob")
            try await proxy.lead(to: servers[0])
            try await Fleet.wait("both are as the later word says") {
                [near, far].allSatisfy { $0.isHeld == isHoldLater && $0.isOpen == isHoldLater }
            }
            try await Fleet.wait("both are joined") { near.isJoined && far.isJoined }
            try await Task.sleep(for: .milliseconds(1_200))
            for host in [near, far] {
                #expect(host.isHeld == isHoldLater && host.isOpen == isHoldLater)
            }
            // A hold says nothing of the state beneath: the reset, which was later than the trip, stays one.
            #expect(try near.events(.tripped).count == 1)
            #expect(try far.events(.tripped).count == 1)
        }
        for server in servers { await server.clear() }
    }

    @Test func aLostResetStaysClosed() async throws {
        try await Fleet.with(3, config: Self.config) { hosts, database in
            try await Fleet.trip(hosts)
            let past = try Past(database)
            let old = try database.number(Self.generation)
            try synchronously { try hosts[2].store.reset("api", by: "ann") }
            // A link that is cut off before its next beat says its word once more, which makes one more generation.
            try await Fleet.wait("all are closed, and each link knows") {
                try hosts.allSatisfy { !$0.isOpen }
                    && database.number("SELECT count(*) FROM fleet.circuit c, fleet.link l WHERE l.beat > c.generation")
                        == hosts.count
            }
            let generation = try database.number(Self.generation)
            #expect(generation > old)
            try past.failOver()
            try await Fleet.wait("the register is as before") {
                #expect(hosts.allSatisfy { !$0.isOpen })
                return try database.number(Self.generation) == generation
            }
            try await Fleet.wait("all are joined") { hosts.allSatisfy(\.isJoined) }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(try database.number(Self.generation) == generation)
            for host in hosts {
                #expect(!host.isOpen)
                #expect(try host.events(.tripped).count == 1)
                #expect(try host.events(.reset).count == 1)
            }
        }
    }

    /// The file that the fleet opened has those failures until it obeys the register that has closed.
    @Test func failuresOfAnEarlierTripDoNotCountAgain() async throws {
        try await Fleet.with(2, config: Self.config) { hosts, database in
            try await Fleet.trip(hosts)
            // Before the failures: to the server they are all later than the register's closing.
            try database.connect().run(
                """
                UPDATE fleet.circuit SET generation = generation + 1, state = 'closed', since = since - 10000000,
                open_until = NULL, open_for = NULL, changed = pg_current_xact_id()
                """)
            let closed = try database.number(Self.generation)
            try await Fleet.wait("each link has read and counted since") {
                try database.number(
                    "SELECT count(*) FROM fleet.circuit c, fleet.link l WHERE l.beat > c.generation + 2000000")
                    == hosts.count
            }
            for host in hosts {
                #expect(!host.isOpen)
                #expect(try host.events(.tripped).count == 1)
            }
            #expect(try database.number(Self.generation) == closed)
        }
    }

    /// Somebody has edited the row: it is made anew from what the hosts know.
    @Test func aGenerationBeyondAllOthersIsRecreated() async throws {
        let news = Locked<[String]>([])
        @Sendable func hear(_ configuration: inout FleetLink.Configuration) {
            configuration.onNews = { item in news.withLock { $0.append(item.description) } }
        }
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(600)), hear) { hosts, database in
            try await Fleet.trip(hosts)
            try database.connect().run(
                """
                UPDATE fleet.circuit SET generation = 1::bigint << 62, state = 'closed', open_until = NULL,
                open_for = NULL, lease_host = 'nobody', lease_ends = 1::bigint << 60, lease_for = 315360000000000,
                changed = pg_current_xact_id()
                """)
            try await Fleet.wait("the register is made anew") {
                try database.number(
                    "SELECT count(*) FROM fleet.circuit WHERE state = 'open' AND generation < 1::bigint << 53") == 1
            }
            #expect(news.withLock { $0.contains { $0.contains("'api' had an invalid row at the server") } })
            #expect(hosts.allSatisfy { $0.isOpen })
            try synchronously { try hosts[0].store.reset("api", by: "ann") }
            try await Fleet.wait("all are closed") { hosts.allSatisfy { !$0.isOpen } }
        }
    }
}
#endif
