#if PostgreSQL
import BreakerStore

/// The statements of a host about the registers, each in a transaction of its own.
///
/// No statement keeps a lock after its answer, so a link that stalls between two statements stops no other link. Each
/// throws what `ServerConnection.run` throws.
struct Registers {
    let connection: ServerConnection
    let fleet: String
    let host: String
    /// How long a host may probe before another host may.
    let lease: Int64

    init(_ connection: ServerConnection, fleet: String, host: String, lease: Int64 = 5_000_000) {
        self.connection = connection
        self.fleet = fleet
        self.host = host
        self.lease = FleetLimits.duration(lease)
    }

    // MARK: - Parts of statements

    /// The time, once for a whole statement: a subquery that is not materialized would read the clock for each row.
    static let time = "t AS MATERIALIZED (SELECT fleet.now() AS now)"

    /// How far a stamp may lie ahead of the server's clock; a larger lead means that the clock was set back.
    ///
    /// Reads that began a little earlier, and clocks that are slowly corrected, stay below.
    static let slack: Int64 = 1_000_000

    /// A generation that no register has had.
    ///
    /// If the clock was set back, generations go on from the old one. If a failover then loses commits, two histories
    /// go on from one generation; the random part keeps their next generations apart.
    static let nextGeneration = "greatest(generation + 1 + (random() * 1000)::bigint, t.now)"
    static let next = "generation = \(nextGeneration), changed = pg_current_xact_id()"
    static let noLease = "lease_host = NULL, lease_ends = NULL, lease_for = NULL"

    /// Whether there is a word of this kind, with a stamp that `LinkWord.credibleStamps` has.
    static func hasWord(_ kind: String) -> String {
        """
        coalesce(\(kind)_number IS NOT NULL AND \(kind)_said
        BETWEEN 0 AND least(fleet.now() + \(LinkWord.longestLead), \(LinkWord.sendable.upperBound)), false)
        """
    }

    /// Whether a hold is in force: newer than the newest reset, and not over.
    static let isHeld = """
        (hold IS NOT NULL AND \(hasWord("hold"))
        AND (NOT \(hasWord("reset")) OR (hold_said, hold_number) > (reset_said, reset_number))
        AND (hold_for IS NULL OR fleet.now() BETWEEN hold_said - \(slack) AND hold_said + hold_for))
        """

    /// Whether a span is over: its end has come, or lies further ahead than the span is long.
    ///
    /// Then the server's clock was set back, and the true end is unknown; a span without an end is over, too.
    ///
    /// It reads the clock when an UPDATE checks its condition, because a statement that waited for another looks
    /// again: by the time at which it began, the other's new lease would end further ahead than a lease is long.
    static func isOver(_ end: String, _ length: String) -> String {
        "coalesce(\(end) <= fleet.now() OR \(end) > fleet.now() + \(length), true)"
    }

    // MARK: - The schema

    /// Throws `wrongSchema` if the database has no schema, or one of another major version.
    func checkSchema() throws(FleetError) {
        let rows: [ServerRow]
        do throws(FleetError) {
            rows = try self.connection.run("SELECT version FROM fleet.meta")
        } catch {
            guard error.code == .wrongSchema else { throw error }
            throw Self.wrongSchema("the database has no schema 'fleet'", "have its owner make one")
        }
        guard let version = rows.first?.number(0) else {
            throw Self.wrongSchema("the database's schema 'fleet' has no version", "have its owner make it anew")
        }
        let major = version / 1_000
        guard major == FleetSchema.major else {
            throw Self.wrongSchema(
                "the database's schema 'fleet' has the version \(major).\(version % 1_000), links of this release need "
                    + "\(FleetSchema.major)",
                major > FleetSchema.major ? "use a later release" : "have the database's owner bring it up to date")
        }
    }

    private static func wrongSchema(_ what: String, _ advice: String) -> FleetError {
        FleetError(code: .wrongSchema, message: "\(what); \(advice)")
    }

    // MARK: - Names

    /// Makes a closed register for each name that has none.
    ///
    /// It is closed since ever, so that the failures that led here count.
    func insertMissing(_ names: [String]) throws(FleetError) {
        guard !names.isEmpty else { return }
        try self.connection.run(
            """
            WITH \(Self.time)
            INSERT INTO fleet.circuit (fleet, name, generation, state, since, used)
            SELECT $1, name, t.now, 'closed', 0, t.now FROM t, unnest($2::text[]) AS wanted (name) ON CONFLICT DO NOTHING
            """, [self.fleet, ServerText.array(names)])
    }

    /// Deletes those of the registers that this library can't have written, and returns their names.
    ///
    /// No host could change a register with a generation beyond all others.
    func deleteDamaged(_ names: [String]) throws(FleetError) -> [String] {
        let rows = try self.connection.run(
            """
            DELETE FROM fleet.circuit WHERE fleet = $1 AND name = ANY ($2::text[])
            AND generation > \(FleetLimits.readableGeneration) RETURNING name
            """, [self.fleet, ServerText.array(names)])
        return rows.compactMap { $0.text(0) }
    }

    /// Takes notifications from now on.
    func listen() throws(FleetError) { try self.connection.run("LISTEN \(FleetSchema.channel)") }

    /// The circuits of this fleet that the notifications name; nil if they may mean any circuit.
    func told(by notifications: [String]) -> Names? {
        var names: Names = []
        for payload in notifications {
            if payload.isEmpty || payload == self.fleet { return nil }
            guard payload.hasPrefix(self.fleet + Self.separator) else { continue }
            names.insert(String(payload.dropFirst(self.fleet.count + 1)))
        }
        return names
    }

    /// A control character, which no name has.
    private static let separator = "\u{1F}"

    /// The text of a notification about a circuit.
    ///
    /// NOTIFY: "In the default configuration it must be shorter than 8000 bytes"; a longer text names the fleet alone,
    /// and leaves out a fleet that is too long, too.
    func payload(for name: String) -> String {
        let texts = ["\(self.fleet)\(Self.separator)\(name)", self.fleet]
        return texts.first { $0.utf8.count < 8_000 } ?? ""
    }
}
#endif
