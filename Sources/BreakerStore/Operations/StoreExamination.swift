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

    /// Whether the board's file can be used.
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
    /// What SQLite's check reports about the file; empty if it finds no damage.
    package var damage: [String]
    /// What SQLite's check reports about values, each of which makes only its own row unusable.
    package var badRows: [String]
    /// Whether the clock's row is missing or can't be read, so that the store time is unknown.
    package var isClockUnreadable: Bool
    /// Whether the file has no clock's row: it was just created, or a log with all rows was lost.
    package var lacksClock: Bool
    /// The names of circuits with times in the future.
    package var stampsAhead: [String]
    package var circuits: Int
    /// The names of circuits whose rows can't be read.
    package var unreadable: [String]
    /// The names of circuits that were created again after damage, and that no operator has reset or held since.
    package var recreated: [String]
    /// The rules that this release does not know completely, ordered by the circuits' ids.
    package var rules: [RulesFinding]
    /// How many frames of the log no checkpoint has copied yet; nil without a wal-index.
    package var pendingFrames: Int?
    /// Whether a process has written since the host was booted.
    package var isOfThisBoot: Bool
    /// How far store time is ahead of the wall clock.
    package var ahead: Duration
    package var board: Board
    /// The circuits that a living worker counts in its own memory, because there is no board or no room on it.
    package var countedAlone: [String]
    package var living: [WorkerSnapshot]
    package var dead: [WorkerSnapshot]
    /// How many workers live, including those without a row, and which of them can't use the file.
    package var live: LiveWorkers
    package var probes: [Probe]
    /// The file's creation; nil if an older release has created it.
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
        self.damage = lines.filter { !Database.concernsValue($0) }
        self.badRows = lines.filter(Database.concernsValue)
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
        // Of the `configured` events, only a repaired circuit's has no state before (`Repair`).
        self.recreated = try database.all(
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
        self.lacksClock = boot == nil
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
        let living = Set(rows.map(\.worker.id).filter(view.moment.isAlive))
        let workers = rows.map { (id: $0.worker.id, snapshot: WorkerSnapshot($0.worker, since: date($0.since))) }
        self.living = workers.filter { living.contains($0.id) }.map(\.snapshot)
        self.dead = workers.filter { !living.contains($0.id) }.map(\.snapshot)
        let byID = Dictionary(workers.map { ($0.id, $0.snapshot) }) { first, _ in first }
        self.live = LiveWorkers(
            rows.filter { living.contains($0.worker.id) }, ofSchema: view.schema, of: view.file, on: view.board,
            view.clock)
        let alone = try database.all(
            """
            SELECT circuit.name, counters.board FROM worker CROSS JOIN registration ON registration.worker = worker.id
            CROSS JOIN counters ON counters.circuit = registration.circuit AND counters.board = worker.id
            CROSS JOIN circuit ON circuit.id = counters.circuit LIMIT 10000
            """
        ) { ($0.text(0), $0.worker(1)) }
        self.countedAlone = Set(alone.filter { living.contains($0.1) }.map(\.0)).sorted()
        self.probes = try database.all(
            """
            SELECT coalesce(circuit.name, ''), probe.worker, probe.since, probe.lease_ends FROM probe
            LEFT JOIN circuit ON circuit.id = probe.circuit ORDER BY circuit.name, probe.token LIMIT 10000
            """
        ) { row in
            let worker = row.worker(1)
            return Probe(
                circuit: row.text(0),
                owner: living.contains(worker) ? byID[worker] : nil,
                since: date(StoreTime(microseconds: row.integer(2))),
                isLeaseOver: row.integer(3) <= now.microseconds
            )
        }
    }
}
