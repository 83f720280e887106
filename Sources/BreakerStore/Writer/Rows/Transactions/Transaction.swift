/// The work between BEGIN IMMEDIATE and COMMIT; only here do calls, operators and links change circuits.
///
/// A transaction loads a circuit once, however many reports concern it, and saves it once at the end (`flush`).
final class Transaction {
    let database: Database
    let worker: Worker
    let now: StoreTime
    /// Whether there is a change that must survive a power loss by default, such as a change of state.
    ///
    /// The store's durability may ask for more or less (`Writer.needsSync`).
    private(set) var hasDurableChanges = false
    /// Whether this worker has registered a circuit.
    private(set) var hasRegistrations = false
    /// Whether this worker has claimed a probe's slot.
    ///
    /// The worker keeps the slot only as long as other processes see the worker's lock.
    private(set) var hasClaims = false
    /// Whether there are events for the listeners, once they are committed.
    private(set) var hasEvents = false

    let start: ClockRow.Start

    private let file: StoreFile
    private let storeClock: StoreClock
    private let eventsKept: Int
    private let random: RandomSource
    private let isLocked: (WorkerID) -> Bool
    /// The row of the clock, as this transaction has read or changed it.
    private(set) var clock: ClockRow
    private var circuits: [CircuitName: LoadedCircuit] = [:]
    /// The connection's count of changes when the transaction began.
    private let changesBefore: Int64
    private var liveness: [WorkerID: Bool] = [:]

    /// The board, whose totals are recorded when a window generation ends.
    lazy var board = BoardView(of: self.file, incarnation: self.clock.incarnation, self.storeClock)

    /// Reads the clock unless it is `known`; the transaction must have begun.
    init(
        _ database: Database,
        of file: StoreFile,
        worker: Worker,
        clock: StoreClock,
        known: ClockRow?,
        eventsKept: Int,
        random: RandomSource,
        isLocked: @escaping (WorkerID) -> Bool
    ) throws(BreakerStoreError) {
        self.database = database
        self.file = file
        self.worker = worker
        self.storeClock = clock
        self.eventsKept = eventsKept
        self.random = random
        self.isLocked = isLocked
        self.changesBefore = database.connection.changes
        let start = try ClockRow.start(database, clock, known: known)
        self.start = start
        self.now = start.now
        self.clock = start.row
        if start.isRepaired {
            let reason = "the clock's row could not be read; it was repaired from the history and the wall clock"
            try self.write(Transition(kind: .restored, reason: reason), of: nil, by: nil)
        }
    }

    /// A new circuit starts at this epoch or above, so that it never has an epoch of a forgotten circuit.
    var epochFloor: Epoch { self.clock.epochFloor }

    /// The file's incarnation.
    var incarnation: Int64 { self.clock.incarnation }

    func uptime(of time: StoreTime) -> Uptime { self.storeClock.uptime(of: time) }

    func time(of uptime: Uptime) -> StoreTime { self.storeClock.time(of: uptime) }

    func raiseEpochFloor(to epoch: Epoch) throws(BreakerStoreError) {
        guard epoch > self.clock.epochFloor else { return }
        self.clock.epochFloor = epoch
        try self.database.run("UPDATE clock SET epoch_floor = ?1 WHERE id = 1", SQLValue(epoch))
    }

    /// A circuit's incarnation: a random number that no other circuit has, of the range that `CircuitReader` accepts.
    func newIncarnation() -> Int64 { Int64(self.random.next() >> 2) | 1 }

    func claim(_ token: Int64) -> Circuit.Claim {
        Circuit.Claim(
            token: token, worker: self.worker.id,
            prober: Circuit.Prober(name: self.worker.name, pid: self.worker.pid))
    }

    var path: String { self.database.connection.path }

    /// Whether a worker is alive; asks the kernel once about each worker.
    func isAlive(_ worker: WorkerID) -> Bool {
        if worker == self.worker.id { return true }
        if let known = self.liveness[worker] { return known }
        let isAlive = self.isLocked(worker)
        self.liveness[worker] = isAlive
        return isAlive
    }

    /// Applies one event to a circuit's state machine; returns nil if no circuit has this name.
    ///
    /// Calls, rate checks, operators and links change a circuit in no other way.
    ///
    /// - Parameters:
    ///   - own: this process's config, whose rules apply if the stored rules can't be used.
    ///   - registers: whether to register that config if no circuit has this name.
    func change<Result>(
        _ name: String,
        by operator: String? = nil,
        own: CircuitBreaker.Config? = nil,
        registers: Bool = false,
        _ event: (inout Circuit, Moment, FailureRows) -> Result
    ) throws(BreakerStoreError) -> Result? {
        if registers, let own, try self.load(name, own) == nil { try self.register(own) }
        guard let loaded = try self.load(name, own) else {
            guard registers else { return nil }
            throw BreakerStoreError(
                code: .corrupt, message: "circuit \(name.quoted) can't be found after it was written", path: self.path)
        }
        loaded.row.circuit.failureCount = try loaded.failures.countFailures(for: loaded.row.circuit)
        let moment = Moment(now: self.now, draw: self.random.fraction())
        let before = loaded.row.circuit
        let result = event(&loaded.row.circuit, moment, loaded.failures)
        loaded.row.circuit.failureCount = .none
        try loaded.failures.apply(loaded.row.circuit.drainFailureChanges())
        loaded.row.failures = loaded.failures.stored
        let transitions = loaded.row.circuit.drainTransitions()
        var ended: CircuitRow.FailedAndRefused?
        if loaded.row.circuit.windowGeneration != before.windowGeneration {
            ended = try self.endGeneration(of: &loaded.row, by: transitions)
            if let ended { try self.addToOutages(ended, of: loaded.row.id, before) }
        } else if transitions.contains(where: \.isOfItself), loaded.row.circuit.trippedSince == nil {
            // What a hold has refused until its end is no outage's.
            loaded.row.countsAtGenerationStart = try self.counts(of: loaded.row)
        }
        for transition in transitions {
            let isRemark = transition.kind.isRemark
            try self.write(
                transition, of: name, by: transition.isOfItself ? nil : `operator`,
                endingGeneration: isRemark ? nil : ended)
            // No call was made between two changes of one transaction.
            if !isRemark, ended != nil { ended = CircuitRow.FailedAndRefused(failed: 0, refused: 0) }
        }
        return result
    }

    /// The circuit as it is in this transaction.
    func circuit(_ name: String) throws(BreakerStoreError) -> Circuit? { try self.load(name)?.row.circuit }

    func row(of name: String) throws(BreakerStoreError) -> CircuitRow? { try self.load(name)?.row }

    /// Changes the group, which the state machine does not know; `flush` saves it with the row.
    func regroup(_ name: String, _ group: String?) throws(BreakerStoreError) { try self.load(name)?.row.group = group }

    /// Saves the changed circuits, and reserves store time if the transaction has changed anything.
    func flush() throws(BreakerStoreError) {
        for loaded in self.circuits.values where loaded.row != loaded.stored {
            try self.save(loaded.row, over: loaded.stored)
            loaded.stored = loaded.row
        }
        guard self.database.connection.changes != self.changesBefore else { return }
        try self.database.reserveTime(&self.clock, for: self.now, self.storeClock)
    }

    /// Discards a loaded circuit, because a statement will change its rows directly.
    func unload(_ name: String) { self.circuits[CircuitName(name)] = nil }

    /// Makes the commit survive a power loss, for a change that may have no event.
    func setHasDurableChanges() { self.hasDurableChanges = true }

    /// Called for each circuit that the worker registers.
    func setHasRegistrations() { self.hasRegistrations = true }

    /// Adds an event to the history; occasionally deletes the oldest events beyond the number that is kept.
    ///
    /// - Parameter ended: the failed and refused calls of the window generation that the event ends.
    func write(
        _ transition: Transition, of name: String?, by operator: String?,
        endingGeneration ended: CircuitRow.FailedAndRefused? = nil
    ) throws(BreakerStoreError) {
        if transition.kind.mustSurvivePowerLoss { self.hasDurableChanges = true }
        try self.database.run(
            """
            INSERT INTO event (circuit, kind, at, was, becomes, reason, worker, worker_name, pid, operator, subject,
            failed, refused) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """,
            SQLValue(name), .text(transition.kind.rawValue), .integer(self.now.microseconds),
            SQLValue(transition.from), SQLValue(transition.to), SQLValue(transition.reason),
            SQLValue(self.worker.id), .text(self.worker.name), .integer(Int64(self.worker.pid)), SQLValue(`operator`),
            SQLValue(transition.subject), SQLValue(ended?.failed), SQLValue(ended?.refused)
        )
        if let name {
            try self.database.run(
                """
                INSERT INTO transition (circuit, kind, count) SELECT id, ?2, 1 FROM circuit WHERE name = ?1
                ON CONFLICT (circuit, kind) DO UPDATE SET count = min(count + 1, 9223372036854775806)
                """,
                .text(name), .text(transition.kind.rawValue)
            )
        }
        // To find the events beyond `eventsKept` SQLite steps over all that are kept. So they are deleted only at every
        // 64th event of a circuit, or every `eventsKept / 8` events if that is less. An event without a circuit's row,
        // of the store or of a circuit that was just forgotten, is rare: each one deletes. Only remainders are
        // added up, because the sum of counts that another program wrote could overflow.
        try self.database.run(
            """
            DELETE FROM event WHERE id IN (SELECT id FROM event WHERE circuit IS ?1 AND id <=
            (SELECT id FROM event WHERE circuit IS ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2) ORDER BY id LIMIT CASE WHEN
            (SELECT sum(count % ?3) FROM transition WHERE circuit = (SELECT id FROM circuit WHERE name = ?1)
            AND kind NOT IN ('outage:failed', 'outage:refused')) % ?3 > 0
            THEN 0 ELSE 1000 END)
            """,
            SQLValue(name), .integer(Int64(self.eventsKept)), .integer(Int64(min(64, max(1, self.eventsKept / 8))))
        )
        self.hasEvents = true
    }

    // MARK: - Rows

    /// - Parameter own: the config whose rules apply if the stored rules can't be used.
    private func load(_ name: String, _ own: CircuitBreaker.Config? = nil) throws(BreakerStoreError) -> LoadedCircuit? {
        let key = CircuitName(name)
        if let loaded = self.circuits[key] {
            if let own {
                // Both, so that `flush` sees no changed config: it would save the process's own rules or mode.
                loaded.stored = loaded.stored.resolved(with: own)
                loaded.row = loaded.row.resolved(with: own)
            }
            return loaded
        }
        guard let found = try self.database.circuitRow(named: name) else { return nil }
        let stored = own.map(found.resolved) ?? found
        let loaded = LoadedCircuit(stored, in: self.database, at: self.now)
        self.circuits[key] = loaded
        return loaded
    }

    /// Saves what has changed: the columns with one UPDATE, and the probes, which have a table of their own.
    private func save(_ row: CircuitRow, over before: CircuitRow) throws(BreakerStoreError) {
        let (probes, probesBefore) = (row.circuit.probes, before.circuit.probes)
        var other = before
        other.circuit.probes = probes
        if row != other {
            (other.failures, other.circuit.lastError) = (row.failures, row.circuit.lastError)
            let hasNewConfig = row.group != other.group || row.circuit.rules != other.circuit.rules
            // Most failures change nothing else.
            let update =
                hasNewConfig
                ? CircuitColumn.updateOfAll
                : row == other ? CircuitColumn.updateOfFailure : CircuitColumn.updateOfState
            try self.database.run(update.sql, update.values(of: row))
        }
        if probes.contains(where: { $0.worker == self.worker.id && !probesBefore.contains($0) }) {
            self.hasClaims = true
        }
        try self.database.saveProbes(probes, over: probesBefore, of: row.id)
    }
}
