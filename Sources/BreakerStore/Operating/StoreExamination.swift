#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The findings in a store's file, for a diagnosis.
package struct StoreExamination: Sendable {
    package struct Probe: Sendable, Hashable {
        package var circuit: String
        /// The worker, if it lives and is known.
        package var owner: WorkerSnapshot?
        package var since: Date
        package var isLeaseOver: Bool
    }

    /// The state of the file of the board.
    package enum Board: Sendable {
        case missing
        /// A file that is no board.
        case unusable
        /// The board of another boot or of another file.
        case ofAnother
        case inPlace
    }

    /// Major × 1000 + minor.
    package var schema: Int64
    /// SQLite's complaints about the file; empty if it finds none.
    package var damage: [String]
    /// SQLite's complaints about values of rows, which harm only those rows.
    package var badRows: [String]
    /// Whether the clock's row is missing or can't be read, so that it gives no store time.
    package var isClockUnreadable: Bool
    /// The names of circuits with stamps that lie ahead of now.
    package var stampsAhead: [String]
    package var circuits: Int
    /// The names of circuits whose rows can't be read.
    package var unreadable: [String]
    /// The names of circuits whose rows were made again after damage, and which no operator has reset or held since.
    package var madeAnew: [String]
    /// What this release can't use or does not know of the rules of circuits, in the order of their numbers.
    package var rules: [RulesFinding]
    /// Frames of the log that are not yet in the database; nil where there is no wal-index.
    package var pendingFrames: Int?
    /// Whether a process has written since the host was booted.
    package var isOfThisBoot: Bool
    /// How far store time is ahead of the wall clock.
    package var ahead: Duration
    package var board: Board
    /// The circuits that a living worker counts off the board, because there is no board or no room on it.
    package var countedAlone: [String]
    package var living: [WorkerSnapshot]
    package var dead: [WorkerSnapshot]
    /// How many workers live, also without a row, and those that can't use the file.
    package var live: LiveWorkers
    package var probes: [Probe]
    /// Nil for a file that an older release has created.
    package var creation: StoreCreation?
    /// The time of the examination.
    package var now: Date

    init(_ view: StoreView) throws(BreakerStoreError) {
        let database = view.database
        let date = view.moment.date
        let now = view.moment.now
        self.schema = view.schema
        self.creation = try StoreCreation.read(database, date, now: view.now)
        self.now = view.now
        try database.requireShortKeys()
        try database.requireShortTexts()
        let lines = try database.damage(quickly: true, atMost: 5)
        self.damage = lines.filter { !Database.isOfARow($0) }
        self.badRows = lines.filter(Database.isOfARow)
        self.isClockUnreadable = view.incarnation == nil
        var circuits = 0
        var unreadable: [String] = []
        var stampsAhead: [String] = []
        var rules: [RulesFinding] = []
        try database.circuits(
            .all,
            orElse: { (name, _) in unreadable.append(name) },
            while: { circuit in
                circuits += 1
                if circuit.hasStampsAhead(of: now) { stampsAhead.append(circuit.name) }
                if let finding = RulesFinding(circuit) { rules.append(finding) }
                return true
            })
        self.circuits = circuits + unreadable.count
        self.rules = rules
        self.stampsAhead = stampsAhead.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        self.unreadable = unreadable.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        // Only the event of a healed circuit has no state before (`Healing`).
        self.madeAnew = try database.all(
            """
            SELECT DISTINCT circuit FROM event AS made JOIN circuit ON circuit.name = made.circuit
            WHERE kind = 'configured' AND was IS NULL AND NOT EXISTS (
                SELECT 1 FROM event AS later WHERE later.circuit = made.circuit AND later.id > made.id
                AND later.kind IN ('reset', 'held')
            ) ORDER BY circuit LIMIT 1000
            """
        ) { $0.text(0) }
        self.pendingFrames = database.connection.walIndex()?.pendingFrames
        let boot = try database.first("SELECT boot FROM clock") { $0.text(0) }
        self.isOfThisBoot = boot == view.clock.host.bootID
        let wall = Int64(saturating: (view.clock.host.wallTime.timeIntervalSince1970 * 1_000_000).rounded())
        self.ahead = .microseconds(now.microseconds.subtractingSaturating(wall))
        self.board =
            if view.board.number != nil {
                .inPlace
            } else if BoardReader(at: view.file.board) != nil {
                .ofAnother
            } else {
                StoreFiles.File(view.file.board) == nil ? .missing : .unusable
            }
        let rows = try database.workers()
        let workers = rows.map { WorkerSnapshot($0.worker, since: date($0.since)) }
        self.living = workers.filter { view.moment.isAlive($0.id) }
        self.dead = workers.filter { !view.moment.isAlive($0.id) }
        let byID = Dictionary(workers.map { ($0.id, $0) }) { first, _ in first }
        let living = Set(self.living.map(\.id))
        self.live = LiveWorkers(
            rows.filter { living.contains($0.worker.id) }, ofSchema: view.schema, of: view.file, on: view.board,
            view.clock)
        let alone = try database.all(
            """
            SELECT circuit.name, counters.board FROM worker CROSS JOIN registration ON registration.worker = worker.id
            CROSS JOIN counters ON counters.circuit = registration.circuit AND counters.board = worker.id
            CROSS JOIN circuit ON circuit.id = counters.circuit LIMIT 10000
            """
        ) { ($0.text(0), $0.integer(1)) }
        self.countedAlone = Set(alone.filter { living.contains($0.1) }.map(\.0)).sorted()
        self.probes = try database.all(
            """
            SELECT coalesce(circuit.name, ''), probe.worker, probe.since, probe.lease_ends FROM probe
            LEFT JOIN circuit ON circuit.id = probe.circuit ORDER BY circuit.name, probe.token LIMIT 10000
            """
        ) { row in
            let worker = row.integer(1)
            return Probe(
                circuit: row.text(0),
                owner: living.contains(worker) ? byID[worker] : nil,
                since: date(StoreTime(microseconds: row.integer(2))),
                isLeaseOver: row.integer(3) <= now.microseconds
            )
        }
    }
}
