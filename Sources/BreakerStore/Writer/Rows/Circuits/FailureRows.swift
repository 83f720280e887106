/// The rows of one circuit in the table `failure`, as one transaction sees and changes them.
///
/// SQLite counts the rows; this process reads them only if it must. A circuit has as many rows as its rule keeps, or
/// any number if another program wrote them. Above 32 rows the circuit's row stores their number, so that a failure
/// costs the same however many rows there are. If the next failure may trip the circuit, the rows are counted
/// nevertheless. Once the threshold is reached but too few workers have reported, each failure reads all rows that
/// count.
final class FailureRows: KnownFailures {
    private struct Counted {
        var failureCount: FailureCount
        /// Only failures from this instant on were counted: the window's start, or `stored.since` if that is later.
        var countsFrom: StoreTime
        /// When the newest failure of all rows ended.
        var newest: StoreTime?
        /// Whether the count comes from the stored one.
        var isFromStored: Bool
    }

    private let circuit: Int64
    private var rules: Rules
    private let database: Database
    private let now: StoreTime
    /// The count for the circuit's row: as it was read, then as it will be saved.
    private(set) var stored: CircuitRow.StoredFailureCount
    private var counted: Counted?
    /// How many expired rows this transaction may still delete.
    private var deletionsLeft = FailureRows.maxAtOnce
    /// The sequences of the rows of each worker, read when the machine first asks about a report of that worker.
    private var sequences: [WorkerID: Set<Int64>] = [:]
    /// The error of a read for the state machine.
    ///
    /// `KnownFailures` can't throw, so the state machine went on with a default value. `apply` throws the error before
    /// anything is committed.
    private var error: BreakerStoreError?

    init(of row: CircuitRow, in database: Database, at now: StoreTime) {
        self.circuit = row.id
        self.rules = row.circuit.rules
        self.database = database
        self.now = now
        self.stored = row.failures
        // `forgetAll` sets `since` to 1 µs after now at most. A later instant is wrong: the count is ignored.
        if let since = row.failures.since, since > now.adding(1) { self.stored = CircuitRow.StoredFailureCount() }
    }

    // MARK: - For the transaction

    /// Counts the failures that matter for the circuit now; none in a state in which failures don't matter.
    ///
    /// First gives rows with stamps in the future the current time.
    func countFailures(for circuit: Circuit) throws(BreakerStoreError) -> FailureCount {
        guard case .closed = circuit.state, circuit.rules.isKnown, circuit.rules.keepsFailures else { return .none }
        let start = max(circuit.startOfCounting(at: self.now) ?? Self.first, self.stored.since ?? Self.first)
        // Before a trip the rows decide, not the stored count.
        let mayTrip = self.counted.map { $0.isFromStored && self.mayTrip($0.failureCount.count) } ?? false
        if let counted = self.counted, counted.countsFrom == start, self.rules == circuit.rules, !mayTrip {
            return counted.failureCount
        }
        self.rules = circuit.rules
        var counted = try self.count(since: start, usingStored: !mayTrip)
        if let newest = counted.newest, newest > self.now {
            try self.clampFutureStampsNow()
            counted = try self.count(since: start, usingStored: false)
        }
        self.counted = counted
        return counted.failureCount
    }

    /// Whether one more failure than `count` may trip the circuit.
    private func mayTrip(_ count: Int) -> Bool { count >= self.rules.threshold - 1 }

    /// Carries out the changes that the state machine has decided, and deletes some expired rows.
    func apply(_ changes: [FailureChange]) throws(BreakerStoreError) {
        if let error = self.error { throw error }
        guard !changes.isEmpty else { return try self.sweep() }
        for change in changes {
            switch change {
            case .insert(let failure): try self.insert(failure)
            case .drop(let failure): try self.drop(failure)
            case .dropBefore(let start): self.forget(before: start)
            case .dropAll: try self.forgetAll()
            }
        }
        try self.sweep()
        let count = self.counted.map { Int64($0.failureCount.count) }
        self.stored.count = count.flatMap { $0 > Self.maxCountedAlways ? $0 : nil }
    }

    private var key: SQLValue { .integer(self.circuit) }

    // MARK: - Counting

    private static let first = StoreTime(microseconds: .min)

    /// Each transaction counts up to this many rows, which costs no more than writing the circuit's row.
    private static let maxCountedAlways: Int64 = 32

    /// Selects the time of the oldest row that counts, the time of the newest of all rows, whether any row has expired,
    /// and the number of rows from ?3 to ?4, at most ?5.
    private static let countQuery: SQL = """
        SELECT (SELECT at FROM failure WHERE circuit = ?1 AND at >= ?2 ORDER BY at LIMIT 1),
        (SELECT at FROM failure WHERE circuit = ?1 ORDER BY at DESC LIMIT 1),
        (SELECT at FROM failure WHERE circuit = ?1 ORDER BY at LIMIT 1) < ?2,
        (SELECT count(*) FROM (SELECT 1 FROM failure WHERE circuit = ?1 AND at >= ?3 AND at <= ?4 LIMIT ?5))
        """

    /// Counts the failures; `usingStored` allows the stored number, less the rows that have expired since.
    private func count(since start: StoreTime, usingStored: Bool) throws(BreakerStoreError) -> Counted {
        let storedCount = usingStored ? self.stored.count : nil
        let usable = storedCount.flatMap { $0 > Self.maxCountedAlways && !self.mayTrip(Int(clamping: $0)) ? $0 : nil }
        // With a usable stored count, counts only the rows that have expired since, to subtract them. Otherwise counts
        // all rows from `start`.
        let (from, to) =
            usable == nil
            ? (start, StoreTime(microseconds: .max)) : (self.stored.since ?? Self.first, start.subtracting(1))
        let found = try self.database.first(
            Self.countQuery, self.key, .integer(start.microseconds), .integer(from.microseconds),
            .integer(to.microseconds), .integer(usable ?? self.maxRows)
        ) { row in
            Counted(
                failureCount: FailureCount(
                    count: Int(clamping: usable.map { max(0, $0 - row.integer(3)) } ?? row.integer(3)),
                    oldest: row.optionalInteger(0).map(StoreTime.init(microseconds:)),
                    hasExpired: row.integer(2) != 0, droppedBefore: self.stored.since),
                countsFrom: start, newest: row.optionalInteger(1).map(StoreTime.init(microseconds:)),
                isFromStored: usable != nil)
        }
        return found ?? Counted(failureCount: .none, countsFrom: start, isFromStored: false)
    }

    /// A limit for three things, each of which makes all other writers wait.
    ///
    /// These are: the expired rows that one transaction deletes, the rows with stamps in the future that one count
    /// rewrites, and the rows that `oldest` returns.
    private static let maxAtOnce: Int64 = 1_000

    /// Rewrites failures that are stamped later than now, so that they count as of now.
    private func clampFutureStampsNow() throws(BreakerStoreError) {
        let futureFailures = try self.database.all(
            "SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at > ?2 ORDER BY at DESC LIMIT ?3",
            self.key, .integer(self.now.microseconds), .integer(Self.maxAtOnce), read: Circuit.Failure.init)
        for var failure in futureFailures {
            try self.delete(failure)
            failure.at = self.now
            // Two rows that differ only in their stamps become one row here.
            try self.write(failure)
        }
        self.stored.count = nil
    }

    // MARK: - Changing

    private func insert(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        let changes = self.database.connection.changes
        try self.write(failure)
        // A row that exists already was counted before.
        if self.database.connection.changes != changes { self.counted?.failureCount.add(failure) }
        self.sequences[failure.worker]?.insert(failure.sequence)
    }

    private func write(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        try self.database.run(
            // Not OR IGNORE: that would also silently drop a row that a foreign column or index of the table refuses.
            """
            INSERT INTO failure (circuit, at, worker, sequence) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (circuit, at, worker, sequence) DO NOTHING
            """,
            self.key, .integer(failure.at.microseconds), SQLValue(failure.worker), .integer(failure.sequence)
        )
    }

    private func delete(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        try self.database.run(
            "DELETE FROM failure WHERE circuit = ?1 AND at = ?2 AND worker = ?3 AND sequence = ?4",
            self.key, .integer(failure.at.microseconds), SQLValue(failure.worker), .integer(failure.sequence)
        )
    }

    private func drop(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        try self.delete(failure)
        self.sequences[failure.worker]?.remove(failure.sequence)
        self.counted = nil
        self.stored.count = nil
    }

    /// Makes older rows count no more; `sweep` deletes them little by little.
    private func forget(before start: StoreTime) {
        self.stored.since = max(start, self.stored.since ?? start)
        // A success has made the circuit forget failures that counted.
        if let counted = self.counted, counted.countsFrom < start { self.counted = nil }
    }

    private func forgetAll() throws(BreakerStoreError) {
        // Rows stamped after now are deleted at once: `since` can't cover them, and they would count when their time
        // comes. Only another program can have written so many that this is slow.
        try self.database.run(
            "DELETE FROM failure WHERE circuit = ?1 AND at > ?2", self.key, .integer(self.now.microseconds))
        let newest = try self.database.first(
            "SELECT at FROM failure WHERE circuit = ?1 ORDER BY at DESC LIMIT 1", self.key
        ) { StoreTime(microseconds: $0.integer(0)) }
        if let newest { self.forget(before: newest.adding(1)) }
        self.counted = nil
        self.sequences = [:]
    }

    /// Deletes expired rows, but at most `deletionsLeft`: all other writers wait during the deletion.
    private func sweep() throws(BreakerStoreError) {
        guard let since = self.stored.since else { return }
        let before = self.database.connection.changes
        try self.database.run(
            """
            DELETE FROM failure WHERE circuit = ?1 AND (at, worker, sequence) IN (SELECT at, worker, sequence
            FROM failure WHERE circuit = ?1 AND at < ?2 ORDER BY at, worker, sequence LIMIT ?3)
            """,
            self.key, .integer(since.microseconds), .integer(self.deletionsLeft)
        )
        self.deletionsLeft -= self.database.connection.changes - before
        guard self.deletionsLeft > 0 else { return }
        self.stored.since = nil
        self.counted?.failureCount.droppedBefore = nil
        self.counted?.failureCount.hasExpired = false
    }

    // MARK: - For the state machine

    func contains(worker: WorkerID, sequence: Int64) -> Bool {
        self.read(orDefault: false) { () throws(BreakerStoreError) in
            if let known = self.sequences[worker] { return known.contains(sequence) }
            let known = Set(
                try self.database.all(
                    """
                    SELECT sequence FROM (SELECT worker, sequence FROM failure WHERE circuit = ?1
                    ORDER BY at DESC LIMIT ?3) WHERE worker = ?2
                    """,
                    self.key, SQLValue(worker), .integer(self.maxRows)
                ) { $0.integer(0) })
            self.sequences[worker] = known
            return known.contains(sequence)
        }
    }

    func newestOfEachWorker() -> [Circuit.Failure] {
        self.read(orDefault: []) { () throws(BreakerStoreError) in
            var newest: [Int64: Circuit.Failure] = [:]
            try self.database.forEach(
                """
                SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at >= ?2
                ORDER BY at DESC, worker DESC, sequence DESC LIMIT ?3
                """,
                [self.key, .integer(self.countsFrom.microseconds), .integer(self.maxRows)]
            ) { row in
                let worker = row.integer(1)
                if newest[worker] == nil { newest[worker] = Circuit.Failure(row) }
            }
            return Array(newest.values)
        }
    }

    func oldest(_ count: Int) -> [Circuit.Failure] {
        self.read(orDefault: []) { () throws(BreakerStoreError) in
            try self.database.all(
                """
                SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at >= ?2
                ORDER BY at, worker, sequence LIMIT ?3
                """,
                self.key, .integer(self.countsFrom.microseconds), .integer(min(Int64(max(0, count)), Self.maxAtOnce)),
                read: Circuit.Failure.init)
        }
    }

    /// Failures before this instant do not count.
    private var countsFrom: StoreTime { self.counted?.countsFrom ?? Self.first }

    /// The number of rows that the rules keep, and some more.
    private var maxRows: Int64 { Database.maxFailures(under: self.rules) }

    /// Reads; if that fails, keeps the error for `apply`, and returns a default value.
    private func read<Value>(
        orDefault value: Value,
        _ read: () throws(BreakerStoreError) -> Value
    ) -> Value {
        do throws(BreakerStoreError) {
            return try read()
        } catch {
            self.error = error
            return value
        }
    }
}

extension Circuit.Failure {
    /// Reads the first three columns: `at`, `worker` and `sequence`.
    init(_ row: Row) {
        self.init(
            at: StoreTime(microseconds: row.integer(0)),
            worker: row.worker(1),
            sequence: row.integer(2)
        )
    }
}
