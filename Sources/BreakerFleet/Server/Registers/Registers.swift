#if PostgreSQL
import BreakerStore

/// A host's statements about the registers, each in a transaction of its own.
///
/// No statement keeps a lock after its answer, so a link that stalls between two statements blocks no other link. Each
/// function throws the errors of `ServerConnection.run`.
struct Registers {
    let connection: ServerConnection
    let fleet: String
    let host: String
    /// How long a host keeps the right to probe.
    let lease: Int64
    /// The version of the database's schema, which may be older than this release's.
    var schema = FleetSchema.version

    init(_ connection: ServerConnection, fleet: String, host: String, lease: Int64 = 5_000_000) {
        self.connection = connection
        self.fleet = fleet
        self.host = host
        self.lease = FleetLimits.duration(lease)
    }

    // MARK: - Parts of statements

    /// The server's time, the same for a whole statement: a subquery that is not materialized would read the clock for
    /// each row.
    static let time = "t AS MATERIALIZED (SELECT fleet.now() AS now)"

    /// How far a stamp may lie ahead of the server's clock; a larger lead means that the clock was set back.
    ///
    /// Statements that began a little earlier, and clocks that are slowly corrected, stay below it.
    static let slack: Int64 = 1_000_000

    /// A generation that no register has had.
    ///
    /// It is the server's time, or, if the clock was set back, a little more than the last generation. If a failover
    /// then loses commits, two histories continue from one generation; the random part makes their next ones differ.
    static let nextGeneration = "greatest(generation + 1 + (random() * 1000)::bigint, t.now)"
    static let next = "generation = \(nextGeneration), changed = pg_current_xact_id()"
    static let noLease = "lease_host = NULL, lease_ends = NULL, lease_for = NULL"

    /// The condition that there is a command of this kind whose stamp is in `OperatorCommand.credibleStamps`.
    static func hasCommand(_ kind: String) -> String {
        """
        coalesce(\(kind)_number IS NOT NULL AND \(kind)_said
        BETWEEN 0 AND least(fleet.now() + \(OperatorCommand.maxLead), \(OperatorCommand.sendable.upperBound)), false)
        """
    }

    /// The condition that a hold is in force: newer than the newest reset, and not over.
    static let isHeld = """
        (hold IS NOT NULL AND \(hasCommand("hold"))
        AND (NOT \(hasCommand("reset")) OR (hold_said, hold_number) > (reset_said, reset_number))
        AND (hold_for IS NULL OR fleet.now() BETWEEN hold_said - \(slack) AND hold_said + hold_for))
        """

    /// The condition that a span is over: its end is past, further in the future than the span is long, or missing.
    ///
    /// If the end is too far in the future, the server's clock was set back, and the true end is unknown.
    ///
    /// It reads the clock whenever an UPDATE checks the condition, because a statement that waited for another checks
    /// it again. Compared with the time at which the statement began, the other's new lease would end further in the
    /// future than a lease is long.
    static func isOver(_ end: String, _ length: String) -> String {
        "coalesce(\(end) <= fleet.now() OR \(end) > fleet.now() + \(length), true)"
    }

    // MARK: - The schema

    /// The version of the database's schema; throws `wrongSchema` if there is none, or one of another major version.
    @discardableResult
    func checkSchema() throws(FleetError) -> Int64 {
        let rows: [ServerRow]
        do throws(FleetError) {
            rows = try self.connection.run("SELECT version FROM fleet.meta")
        } catch {
            guard error.code == .wrongSchema else { throw error }
            throw Self.wrongSchema("the database has no schema 'fleet'", "have its owner create it")
        }
        guard let version = rows.first?.number(0) else {
            throw Self.wrongSchema("the database's schema 'fleet' has no version", "have its owner create it again")
        }
        let major = version / 1_000
        guard major == FleetSchema.major else {
            throw Self.wrongSchema(
                "the database's schema 'fleet' has the version \(major).\(version % 1_000), links of this release need "
                    + "\(FleetSchema.major)",
                major > FleetSchema.major ? "use a later release" : "have the database's owner update it")
        }
        return version
    }

    private static func wrongSchema(_ what: String, _ advice: String) -> FleetError {
        FleetError(code: .wrongSchema, message: "\(what); \(advice)")
    }

    // MARK: - Names

    /// Creates a closed register for each name that has none.
    ///
    /// The register is closed since 1970, so that failures from before its creation count.
    func insertMissing(_ names: [String]) throws(FleetError) {
        guard !names.isEmpty else { return }
        try self.connection.run(
            """
            WITH \(Self.time)
            INSERT INTO fleet.circuit (fleet, name, generation, state, since, used)
            SELECT $1, name, t.now, 'closed', 0, t.now FROM t, unnest($2::text[]) AS wanted (name) ON CONFLICT DO NOTHING
            """, [self.fleet, ServerText.array(names)])
    }

    /// Deletes those registers whose generation this library can't have written, and returns their names.
    ///
    /// No host could replace such a register, because no generation is higher.
    func deleteDamaged(_ names: [String]) throws(FleetError) -> [String] {
        let rows = try self.connection.run(
            """
            DELETE FROM fleet.circuit WHERE fleet = $1 AND name = ANY ($2::text[])
            AND generation > \(FleetLimits.readableGeneration) RETURNING name
            """, [self.fleet, ServerText.array(names)])
        return rows.compactMap { $0.text(0) }
    }

    /// Makes the server notify this connection of changed registers from now on.
    func listen() throws(FleetError) { try self.connection.run("LISTEN \(FleetSchema.channel)") }

    /// The circuits of this fleet that the notifications name; nil if one of them may mean any circuit.
    func changed(by notifications: [String]) -> Names? {
        var names: Names = []
        for payload in notifications {
            if payload.isEmpty || payload == self.fleet { return nil }
            guard payload.hasPrefix(self.fleet + Self.separator) else { continue }
            names.insert(String(payload.dropFirst(self.fleet.count + 1)))
        }
        return names
    }

    /// A control character, which no fleet's name has.
    private static let separator = "\u{1F}"

    /// The text of a notification about a circuit.
    ///
    /// NOTIFY: "In the default configuration it must be shorter than 8000 bytes". Instead of a longer text, this is the
    /// fleet's name alone, or if that is too long, too, an empty text.
    func payload(for name: String) -> String {
        let texts = ["\(self.fleet)\(Self.separator)\(name)", self.fleet]
        return texts.first { $0.utf8.count < 8_000 } ?? ""
    }
}
#endif
