#if PostgreSQL
import BreakerFleet
import BreakerFleetTestSupport

/// All that a register has been: a trigger of the torture's own writes it down.
struct FleetRegisterLog: Sendable {
    struct Entry: Sendable, CustomStringConvertible {
        /// By the server's clock, in microseconds, as if nobody set the fleet's idea of it.
        var at: Int64
        /// A failover has put an older state in the register's place: what follows begins there.
        var isFailover: Bool
        var generation: Int64
        var state: String
        var openUntil: Int64?
        var reason: String?
        var since: Int64?
        var resetSaid: Int64?
        /// The one that is in force, whether or not its time is over.
        var hold: String?
        var lease: String?
        var leaseEnds: Int64?

        /// Whether a person's reset has closed it.
        var isReset: Bool { self.state == "closed" && self.resetSaid != nil && self.since == self.resetSaid }

        var description: String {
            guard !self.isFailover else { return "failover" }
            let hold = self.hold.map { ", held \($0)" } ?? ""
            let lease = self.lease.map { ", \($0) probes" } ?? ""
            return "generation \(self.generation): \(self.isReset ? "reset" : self.state)\(hold)\(lease)"
        }
    }

    static let statements = [
        """
        CREATE FUNCTION public.real_now() RETURNS bigint LANGUAGE sql VOLATILE
        AS 'SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint'
        """,
        """
        CREATE TABLE public.log (
            number bigserial PRIMARY KEY, at bigint NOT NULL, is_failover boolean NOT NULL, generation bigint, state text,
            open_until bigint, reason text, since bigint, reset_said bigint, hold text, lease_host text,
            lease_ends bigint
        )
        """,
        """
        CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
        BEGIN
            INSERT INTO public.log
                (at, is_failover, generation, state, open_until, reason, since, reset_said, hold, lease_host, lease_ends)
            VALUES (public.real_now(), false, NEW.generation, NEW.state, NEW.open_until - fleet.now() + public.real_now(),
                NEW.reason, NEW.since, NEW.reset_said,
                CASE WHEN NEW.reset_said IS NULL
                OR (NEW.hold_said, NEW.hold_number) > (NEW.reset_said, NEW.reset_number) THEN NEW.hold END,
                NEW.lease_host, NEW.lease_ends - fleet.now() + public.real_now());
            RETURN NULL;
        END $$
        """,
        """
        CREATE TRIGGER note AFTER INSERT OR UPDATE OF generation, lease_host, lease_ends, hold_said, reset_said ON fleet.circuit
        FOR EACH ROW EXECUTE FUNCTION public.note()
        """,
    ]

    /// What a failover loses: all of the fleet's tables.
    private static let tables = ["circuit", "failure", "rate", "link"]

    /// Keeps the state to which a failover leads back.
    static func remember(_ connection: ServerConnection) throws {
        try connection.run("BEGIN")
        for table in self.tables {
            try connection.run("DROP TABLE IF EXISTS public.old_\(table)")
            try connection.run("CREATE TABLE public.old_\(table) AS SELECT * FROM fleet.\(table)")
        }
        try connection.run("COMMIT")
    }

    /// All connections end, and what the links come back to is the state that was kept.
    static func failOver(_ connection: ServerConnection) throws {
        let all = self.tables.map { "fleet.\($0)" }.joined(separator: ", ")
        try connection.run("BEGIN")
        try connection.run("LOCK TABLE \(all)")
        try connection.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                + "AND pid <> pg_backend_pid()")
        try connection.run("INSERT INTO public.log (at, is_failover) VALUES (public.real_now(), true)")
        for table in self.tables {
            try connection.run("DELETE FROM fleet.\(table)")
            try connection.run("INSERT INTO fleet.\(table) SELECT * FROM public.old_\(table)")
        }
        try connection.run("COMMIT")
    }

    static func read(_ connection: ServerConnection) throws -> [Entry] {
        try connection.run(
            """
            SELECT at, is_failover, generation, state, open_until, reason, since, reset_said, hold, lease_host, lease_ends
            FROM public.log ORDER BY number
            """
        ).map { row in
            Entry(
                at: row.number(0) ?? 0, isFailover: row.flag(1), generation: row.number(2) ?? 0,
                state: row.text(3) ?? "", openUntil: row.number(4), reason: row.text(5), since: row.number(6),
                resetSaid: row.number(7), hold: row.text(8), lease: row.text(9), leaseEnds: row.number(10))
        }
    }
}
#endif
