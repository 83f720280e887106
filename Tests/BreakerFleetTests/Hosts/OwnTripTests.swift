#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// What a link reports of the circuits that its host has opened by its own rules.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OwnTripTests {
    /// More circuits than a heartbeat records.
    private static let names = (0..<LinkedCircuits.maxRecorded + 50).map { "own-\($0)" }

    private static func open(_ names: [String], of host: FleetHost) throws {
        for name in names {
            let breaker = try host.store.breaker(FleetHost.config(name, failures: 1, recovery: .seconds(3_600)))
            try? breaker.run { () throws -> Void in throw FleetHost.Down() }
        }
    }

    /// How many circuits have such a history, with the newest event first.
    private static func count(_ events: String, in database: TestDatabase) throws -> Int64 {
        try database.number(
            """
            SELECT count(*) FROM fleet.circuit WHERE name LIKE 'own-%' AND '\(events)' = (
                SELECT coalesce(string_agg(e.value ->> 'event', ' ' ORDER BY e.ordinality), '')
                FROM jsonb_array_elements(history) WITH ORDINALITY AS e
            )
            """)
    }

    private static func rules(in database: TestDatabase) throws -> Int64 {
        try database.number(
            "SELECT count(*) FROM fleet.link, jsonb_object_keys(rules) AS k WHERE k LIKE 'own-%'")
    }

    @Test func recordsManyInSteps() async throws {
        try await Fleet.with(1) { hosts, database in
            let owner = try database.connect()
            // The server notes the largest statement: a long one ends with a timeout.
            for statement in [
                "CREATE TABLE public.recorded (rows bigint)",
                """
                CREATE FUNCTION public.note_recorded() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
                INSERT INTO public.recorded SELECT count(*) FROM changed; RETURN NULL; END $$
                """,
                """
                CREATE TRIGGER note_recorded AFTER UPDATE ON fleet.circuit REFERENCING NEW TABLE AS changed
                FOR EACH STATEMENT EXECUTE FUNCTION public.note_recorded()
                """,
            ] { try owner.run(statement) }
            try Self.open(Self.names, of: hosts[0])
            let all = Int64(Self.names.count)
            try await Fleet.wait("all are recorded") { try Self.count("own-trip", in: database) == all }

            // On a new connection the histories stay, but for those that have ended.
            let store = hosts[0].store
            for name in Self.names.prefix(3) { try synchronously { try store.reset(name, by: "ann") } }
            try owner.endOthers()
            try await Fleet.wait("the ends are recorded") {
                try Self.count("reset own-end own-trip", in: database)
                    + Self.count("own-end reset own-trip", in: database) == 3
            }
            #expect(try Self.count("own-trip", in: database) == all - 3)
            #expect(try database.number("SELECT max(rows) FROM public.recorded") == Int64(LinkedCircuits.maxRecorded))
        }
    }

    @Test func aForgottenHostReportsAllAgain() async throws {
        try await Fleet.with(1) { hosts, database in
            try Self.open(Array(Self.names.prefix(3)), of: hosts[0])
            let trips = "SELECT count(*) FROM fleet.link, jsonb_object_keys(own_trips -> 'circuits')"
            func isKnown() throws -> Bool { try database.number(trips) == 3 && Self.rules(in: database) == 3 }
            try await Fleet.wait("the server knows them") { try isKnown() }
            try database.connect().run("DELETE FROM fleet.link")
            try await Fleet.wait("the server knows them again") { try isKnown() }
            try await Fleet.wait("they are recorded") { try Self.count("own-trip", in: database) == 3 }
        }
    }

    /// Two hosts that record the same circuits lock them in one order.
    @Test func locksInOneOrder() async throws {
        let database = try await TestDatabase()
        try database.registers(host: "a").insertMissing(["x", "y"])
        let owner = try database.connect()
        try owner.run("BEGIN")
        try owner.run("SELECT 1 FROM fleet.circuit WHERE name = 'x' FOR UPDATE")
        let trips = ["y", "x"].map {
            Registers.OwnChange.tripped(.init(circuit: $0, age: 0, isHalfOpen: false, lastError: nil))
        }
        async let recorded = Threads { _ in
            try database.registers(host: "a").record(trips)
            return true
        }.run(1)
        try await Fleet.wait("it waits for the first circuit") {
            try database.number(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
                == 1
        }
        let other = try database.connect()
        #expect(throws: Never.self) { try other.run("SELECT 1 FROM fleet.circuit WHERE name = 'y' FOR UPDATE NOWAIT") }
        try owner.run("COMMIT")
        #expect(try await recorded == 1)
    }
}
#endif
