#if PostgreSQL

/// The schema `fleet`, which links need in the database, in the SQL of PostgreSQL 13.
///
/// The schema's owner creates it. All stamps are microseconds of the server's clock since 1970, and durations are
/// microseconds. The numbers have limits, so that no sum of two of them overflows a bigint.
package enum FleetSchema {
    /// The version: major times 1,000, plus minor.
    ///
    /// A minor version only adds to the schema; a link refuses another major version.
    static let version: Int64 = 2_001
    static let major: Int64 = 2
    /// The version since which the server keeps hosts that have left, the circuits that a host has opened itself, and
    /// the newest changes of each circuit.
    static let withHostReports: Int64 = 2_001

    /// The channel on which links are notified of changed registers.
    static let channel = "fleet"

    /// The version as a text, such as `2.0`.
    static var name: String { self.name(of: self.version) }

    static func name(of version: Int64) -> String { "\(version / 1_000).\(version % 1_000)" }

    /// The script for psql that makes the schema, with an introduction; docs/fleet.sql is the same.
    static var script: String {
        let grants = self.grants.map { "--     \($0);\n" }.joined()
        return """
            -- What BreakerFleet needs in a database: the schema fleet, version \(self.name), in the words of PostgreSQL 13.
            --
            -- Its owner makes it, once:
            --
            --     psql -v ON_ERROR_STOP=1 -f docs/fleet.sql
            --
            -- A schema that is there stays as it is; `breaker-fleet schema apply` also moves an older one to this version.
            -- The role of the links makes nothing, and needs no more than this:
            --
            \(grants)
            BEGIN;

            \((self.statements + self.indexes).joined(separator: ";\n\n"));

            COMMIT;

            """
    }

    /// The rights of the links' role, here `breaker`.
    private static let grants = [
        "GRANT USAGE ON SCHEMA fleet TO breaker",
        "GRANT SELECT ON fleet.meta TO breaker",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON fleet.circuit, fleet.failure, fleet.rate, fleet.link TO breaker",
        "GRANT EXECUTE ON FUNCTION fleet.now() TO breaker",
    ]

    /// Creates a missing schema, or migrates an older one to this version, in one transaction.
    package static func install(on connection: ServerConnection) throws(FleetError) {
        try connection.run("BEGIN")
        do throws(FleetError) {
            for statement in self.statements { try connection.run(statement) }
            // Another client that does the same at this time waits here, and then finds the new version.
            let version = try connection.run("SELECT version FROM fleet.meta FOR UPDATE").first?.number(0)
            if version.map({ $0 / 1_000 == 1 }) ?? false {
                for statement in self.fromVersion1 { try connection.run(statement) }
            }
            if version.map({ $0 < self.version }) ?? false {
                for statement in self.fromMinor0 { try connection.run(statement) }
            }
            for statement in self.indexes { try connection.run(statement) }
            try connection.run("COMMIT")
        } catch {
            // An error of ROLLBACK is ignored: the first error shows the cause.
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }

    /// The statements that create the schema, in the order in which one transaction must run them.
    static let statements = [
        "CREATE SCHEMA IF NOT EXISTS fleet",
        // One row.
        """
        CREATE TABLE IF NOT EXISTS fleet.meta (
            is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
            version integer NOT NULL CHECK (version > 0)
        )
        """,
        "INSERT INTO fleet.meta (version) VALUES (\(version)) ON CONFLICT DO NOTHING",
        // The server's clock. Volatile, and not the transaction's start: after a wait for a lock, the time is later.
        """
        CREATE OR REPLACE FUNCTION fleet.now() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
        AS 'SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint'
        """,
        circuit, failure, rate, link,
    ]

    /// The statements that create the indexes.
    ///
    /// They run last, because a schema of version 1 gets the indexed columns by its migration.
    static let indexes = [
        "CREATE INDEX IF NOT EXISTS circuit_changed ON fleet.circuit (fleet, changed)",
        "CREATE INDEX IF NOT EXISTS link_file ON fleet.link (fleet, file)",
    ]

    /// Migrates a schema of version 1, where a register's state and operators' commands shared one generation.
    ///
    /// Deletes the mirrors of the hosts: links of version 1 can no longer work, and links of version 2 soon push all
    /// rows again.
    private static let fromVersion1 = [
        // Links of version 1 lock these in this order, so there is no deadlock.
        "LOCK TABLE fleet.link, fleet.circuit, fleet.failure, fleet.rate, fleet.op IN ACCESS EXCLUSIVE MODE",
        """
        ALTER TABLE fleet.circuit
        ADD COLUMN hold_said bigint CHECK (hold_said \(stamps)), ADD COLUMN hold_number bigint,
        ADD COLUMN reset_said bigint CHECK (reset_said \(stamps)), ADD COLUMN reset_number bigint,
        ADD COLUMN reset_by text, ADD COLUMN reset_reason text
        """,
        """
        UPDATE fleet.circuit SET hold_said = op_at, hold_number = 0,
        hold_for = CASE WHEN hold_until IS NOT NULL THEN greatest(0, hold_until - op_at) END
        WHERE op_at > 0 AND (hold IS NOT NULL OR hold_by IS NOT NULL OR hold_reason IS NOT NULL)
        """,
        """
        UPDATE fleet.circuit SET reset_said = since, reset_number = 0, reset_by = said_by, reset_reason = reason
        WHERE is_reset AND state = 'closed'
        """,
        "UPDATE fleet.circuit SET hold = NULL WHERE hold_said IS NULL",
        """
        ALTER TABLE fleet.circuit
        ADD CHECK ((hold_said IS NULL) = (hold_number IS NULL) AND (reset_said IS NULL) = (reset_number IS NULL))
        """,
        "ALTER TABLE fleet.circuit DROP COLUMN is_reset, DROP COLUMN hold_until, DROP COLUMN op_at",
        "DROP TABLE fleet.op",
        "TRUNCATE fleet.failure, fleet.rate, fleet.link",
        "ALTER TABLE fleet.failure ADD COLUMN file text NOT NULL",
        "ALTER TABLE fleet.rate ADD COLUMN file text NOT NULL",
        "ALTER TABLE fleet.rate DROP CONSTRAINT rate_pkey, ADD PRIMARY KEY (fleet, circuit, file)",
        """
        ALTER TABLE fleet.link
        ADD COLUMN place text NOT NULL, ADD COLUMN trouble text,
        ADD COLUMN trouble_since bigint CHECK (trouble_since \(stamps))
        """,
    ]

    /// Migrates a schema of version 2.0, in which a host that had left was forgotten.
    ///
    /// Links of 2.0 work with both.
    private static let fromMinor0 = [
        """
        ALTER TABLE fleet.link
        ADD COLUMN left_at bigint CHECK (left_at \(stamps)), ADD COLUMN own_trips jsonb NOT NULL DEFAULT '{}'
        """,
        """
        ALTER TABLE fleet.circuit
        ADD COLUMN history jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(history) = 'array')
        """,
        "UPDATE fleet.meta SET version = \(version)",
    ]

    /// The registers.
    ///
    /// - `changed`: the transaction that last changed the row, by which links read only changed rows.
    /// - `used`: when a host last had the circuit. It has no index, and does not update `changed`, because a host marks
    ///   all its circuits at once.
    /// - `hold_…`, `reset_…`: operators' newest hold or release, and their newest reset. Each has its own stamp; the
    ///   generation does not cover them.
    /// - `history`: the newest changes, newest first.
    private static let circuit = """
        CREATE TABLE IF NOT EXISTS fleet.circuit (
            fleet text NOT NULL, name text NOT NULL,
            generation bigint NOT NULL CHECK (generation BETWEEN 1 AND \(FleetLimits.generation)),
            state text NOT NULL CHECK (state IN ('closed', 'open')),
            since bigint NOT NULL CHECK (since \(stamps)),
            open_until bigint CHECK (open_until \(stamps)), open_for bigint CHECK (open_for \(durations)),
            trips integer NOT NULL DEFAULT 0 CHECK (trips >= 0),
            reason text, said_by text,
            hold_said bigint CHECK (hold_said \(stamps)), hold_number bigint,
            hold text CHECK (hold IN ('open', 'closed')), hold_for bigint CHECK (hold_for \(durations)),
            hold_by text, hold_reason text,
            reset_said bigint CHECK (reset_said \(stamps)), reset_number bigint, reset_by text, reset_reason text,
            lease_host text, lease_ends bigint CHECK (lease_ends \(stamps)), lease_for bigint CHECK (lease_for \(durations)),
            changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
            used bigint NOT NULL CHECK (used \(stamps)),
            history jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(history) = 'array'),
            PRIMARY KEY (fleet, name),
            CHECK ((state = 'open') = (open_until IS NOT NULL) AND (open_until IS NULL) = (open_for IS NULL)),
            CHECK ((lease_host IS NULL) = (lease_ends IS NULL) AND (lease_ends IS NULL) = (lease_for IS NULL)),
            CHECK ((hold_said IS NULL) = (hold_number IS NULL) AND (reset_said IS NULL) = (reset_number IS NULL))
        ) WITH (fillfactor = 50)
        """

    /// A mirror of the failures in the files of the hosts.
    ///
    /// `file` is the file's incarnation, by which the server identifies a host whatever the host's name.
    private static let failure = """
        CREATE TABLE IF NOT EXISTS fleet.failure (
            fleet text NOT NULL, circuit text NOT NULL, worker bigint NOT NULL, number bigint NOT NULL,
            host text NOT NULL, file text NOT NULL, at bigint NOT NULL CHECK (at \(stamps)),
            PRIMARY KEY (fleet, circuit, worker, number)
        )
        """

    /// The calls of each host within the windows of its rules, as of `at`.
    private static let rate = """
        CREATE TABLE IF NOT EXISTS fleet.rate (
            fleet text NOT NULL, circuit text NOT NULL, host text NOT NULL, file text NOT NULL,
            failed_calls bigint NOT NULL CHECK (failed_calls >= 0), failed_bad bigint NOT NULL CHECK (failed_bad >= 0),
            slow_calls bigint NOT NULL CHECK (slow_calls >= 0), slow_bad bigint NOT NULL CHECK (slow_bad >= 0),
            at bigint NOT NULL CHECK (at \(stamps)),
            PRIMARY KEY (fleet, circuit, file)
        ) WITH (fillfactor = 50)
        """

    /// The links: one row for each host.
    ///
    /// - `place`: the same for all links of a file on its machine, so that one link can replace another.
    /// - `trouble`, `trouble_since`: what the server, or the file, refuses to the link, and since when.
    /// - `rules`: each circuit's rule in the host's file.
    /// - `left_at`: when a link of the host last ended in order; older than `beat` if a link works again.
    /// - `own_trips`: the circuits that the host has opened by its own rules, as the link with this `session` says.
    private static let link = """
        CREATE TABLE IF NOT EXISTS fleet.link (
            fleet text NOT NULL, host text NOT NULL, session bigint NOT NULL, file text NOT NULL, place text NOT NULL,
            program text NOT NULL, beat bigint NOT NULL CHECK (beat \(stamps)), rules jsonb NOT NULL DEFAULT '{}',
            trouble text, trouble_since bigint CHECK (trouble_since \(stamps)),
            left_at bigint CHECK (left_at \(stamps)), own_trips jsonb NOT NULL DEFAULT '{}',
            PRIMARY KEY (fleet, host)
        ) WITH (fillfactor = 50)
        """

    private static let stamps = "BETWEEN 0 AND \(FleetLimits.stamp)"
    private static let durations = "BETWEEN 0 AND \(FleetLimits.duration)"
}

/// The limits of numbers, in links and at the server.
enum FleetLimits {
    /// The longest time, ten years, for which anything is open, held or counted.
    static let duration: Int64 = 315_360_000_000_000
    static let stamp: Int64 = 1 << 61
    static let generation: Int64 = 1 << 62
    /// A higher generation is damaged: generations are times of the server, or a little higher.
    static let readableGeneration: Int64 = 1 << 53
    /// No right to probe lasts longer than this.
    static let lease: Int64 = 600_000_000
    static let trips: Int64 = 1_000_000
    static let registers = 100_000
    static let calls: Int64 = 1_000_000_000_000_000

    static func duration(_ microseconds: Int64) -> Int64 { min(max(0, microseconds), self.duration) }
}
#endif
