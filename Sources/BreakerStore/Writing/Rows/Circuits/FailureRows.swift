/// The rows of one circuit in the table `failure`, as one transaction sees and changes them.
///
/// SQLite counts the rows; this process reads them only where it must. A circuit has as many rows as its rule keeps, or
/// any number if another program wrote them. Above 32 rows the circuit's row notes the number, so that a failure costs
/// the same however many rows there are. If the next failure may trip the circuit, the rows are counted in spite of the
/// note. Once the threshold is reached but too few workers have reported, each failure reads all rows that count.
final class FailureRows: KeptFailures {
    private struct Counted {
        var tally: FailureTally
        /// Only failures from this instant on were counted: the window's start, or `noted.since` if that is later.
        var countsFrom: StoreTime
        /// When the newest failure of all rows ended.
        var newest: StoreTime?
        /// Whether the count comes from the note.
        var isNoted: Bool
    }

    private let circuit: Int64
    private var rules: Rules
    private let database: Database
    private let now: StoreTime
    /// The note for the circuit's row.
    private(set) var noted: CircuitRow.NotedFailures
    private var counted: Counted?
    /// How many expired rows this transaction may still delete.
    private var mayDelete = FailureRows.atOnce
    /// The sequences of the rows of each worker, read when the machine first asks about a report of that worker.
    private var sequences: [Int64: Set<Int64>] = [:]
    /// The error of a question that the machine asked.
    ///
    /// `KeptFailures` can't throw, so the machine went on without an answer. `apply` throws the error before anything
    /// is committed.
    private var error: BreakerStoreError?

    init(of row: CircuitRow, in database: Database, at now: StoreTime) {
        self.circuit = row.id
        self.rules = row.circuit.rules
        self.database = database
        self.now = now
        self.noted = row.failures
        // Forgetting sets `since` to at most one microsecond after now. A later instant is wrong: ignore the note.
        if let since = row.failures.since, since > now.adding(1) { self.noted = CircuitRow.NotedFailures() }
    }

    // MARK: - For the transaction

    /// The failures that count for the circuit now; none in a state in which failures don't matter.
    func tally(for circuit: Circuit) throws(BreakerStoreError) -> FailureTally {
        guard case .closed = circuit.state, circuit.rules.isKnown, circuit.rules.keepsFailures else { return .none }
        let start = max(circuit.startOfCounting(at: self.now) ?? Self.first, self.noted.since ?? Self.first)
        // Before a trip the rows decide, not the note.
        let mayTrip = self.counted.map { $0.isNoted && self.mayTrip($0.tally.count) } ?? false
        if let counted = self.counted, counted.countsFrom == start, self.rules == circuit.rules, !mayTrip {
            return counted.tally
        }
        self.rules = circuit.rules
        var counted = try self.count(since: start, byNote: !mayTrip)
        if let newest = counted.newest, newest > self.now {
            try self.takeStampsAheadForNow()
            counted = try self.count(since: start, byNote: false)
        }
        self.counted = counted
        return counted.tally
    }

    /// Whether one more failure than `count` may trip the circuit.
    private func mayTrip(_ count: Int) -> Bool { count >= self.rules.threshold - 1 }

    func apply(_ changes: [FailureChange]) throws(BreakerStoreError) {
        if let error = self.error { throw error }
        guard !changes.isEmpty else { return try self.sweep() }
        for change in changes {
            switch change {
            case .insert(let failure): try self.insert(failure)
            case .drop(let failure): try self.drop(failure)
            case .dropBefore(let start): self.drop(before: start)
            case .dropAll: try self.dropAll()
            }
        }
        try self.sweep()
        let count = self.counted.map { Int64($0.tally.count) }
        self.noted.count = count.flatMap { $0 > Self.few ? $0 : nil }
    }

    private var key: SQLValue { .integer(self.circuit) }

    // MARK: - Counting

    private static let first = StoreTime(microseconds: .min)

    /// Each transaction counts up to this many rows, which costs no more than writing the circuit's row.
    private static let few: Int64 = 32

    /// Selects the time of the oldest row that counts, the time of the newest of all rows, whether any row has expired,
    /// and the number of rows from ?3 to ?4, at most ?5.
    private static let countQuery: SQL = """
        SELECT (SELECT at FROM failure WHERE circuit = ?1 AND at >= ?2 ORDER BY at LIMIT 1),
        (SELECT at FROM failure WHERE circuit = ?1 ORDER BY at DESC LIMIT 1),
        (SELECT at FROM failure WHERE circuit = ?1 ORDER BY at LIMIT 1) < ?2,
        (SELECT count(*) FROM (SELECT 1 FROM failure WHERE circuit = ?1 AND at >= ?3 AND at <= ?4 LIMIT ?5))
        """

    /// Counts the failures; `byNote` allows the noted number, less the rows that have expired since.
    private func count(since start: StoreTime, byNote: Bool) throws(BreakerStoreError) -> Counted {
        let noted = byNote ? self.noted.count : nil
        let known = noted.flatMap { $0 > Self.few && !self.mayTrip(Int(clamping: $0)) ? $0 : nil }
        // With a usable note, counts only the rows that have expired since, to subtract them; otherwise all rows from
        // `start`.
        let (from, to) =
            known == nil
            ? (start, StoreTime(microseconds: .max)) : (self.noted.since ?? Self.first, start.subtracting(1))
        let found = try self.database.first(
            Self.countQuery, self.key, .integer(start.microseconds), .integer(from.microseconds),
            .integer(to.microseconds), .integer(known ?? self.mostRows)
        ) { row in
            Counted(
                tally: FailureTally(
                    count: Int(clamping: known.map { max(0, $0 - row.integer(3)) } ?? row.integer(3)),
                    oldest: row.optionalInteger(0).map(StoreTime.init(microseconds:)),
                    hasExpired: row.integer(2) != 0, start: self.noted.since),
                countsFrom: start, newest: row.optionalInteger(1).map(StoreTime.init(microseconds:)),
                isNoted: known != nil)
        }
        return found ?? Counted(tally: .none, countsFrom: start, isNoted: false)
    }

    /// The most rows that one transaction deletes as expired, that one count rewrites because they are stamped after
    /// now, or that `oldest` hands to the machine.
    private static let atOnce: Int64 = 1_000

    /// Rewrites failures that are stamped later than now, so that they count as of now.
    private func takeStampsAheadForNow() throws(BreakerStoreError) {
        let ahead = try self.database.all(
            "SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at > ?2 ORDER BY at DESC LIMIT ?3",
            self.key, .integer(self.now.microseconds), .integer(Self.atOnce), read: Circuit.Failure.init)
        for var failure in ahead {
            try self.delete(failure)
            failure.at = self.now
            // Two rows that differ only in their stamps become one row here.
            try self.write(failure)
        }
        self.noted.count = nil
    }

    // MARK: - Changing

    private func insert(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        let changes = self.database.connection.changes
        try self.write(failure)
        // A row that exists already was counted before.
        if self.database.connection.changes != changes { self.counted?.tally.add(failure) }
        self.sequences[failure.worker]?.insert(failure.sequence)
    }

    private func write(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        try self.database.run(
            // Not OR IGNORE: that would also silently drop a row that a foreign column or index of the table refuses.
            """
            INSERT INTO failure (circuit, at, worker, sequence) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (circuit, at, worker, sequence) DO NOTHING
            """,
            self.key, .integer(failure.at.microseconds), .integer(failure.worker), .integer(failure.sequence)
        )
    }

    private func delete(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        try self.database.run(
            "DELETE FROM failure WHERE circuit = ?1 AND at = ?2 AND worker = ?3 AND sequence = ?4",
            self.key, .integer(failure.at.microseconds), .integer(failure.worker), .integer(failure.sequence)
        )
    }

    private func drop(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        try self.delete(failure)
        self.sequences[failure.worker]?.remove(failure.sequence)
        self.counted = nil
        self.noted.count = nil
    }

    private func drop(before start: StoreTime) {
        self.noted.since = max(start, self.noted.since ?? start)
        // A success has made the circuit forget failures that counted.
        if let counted = self.counted, counted.countsFrom < start { self.counted = nil }
    }

    private func dropAll() throws(BreakerStoreError) {
        // Rows stamped after now are deleted at once: `since` can't cover them, and they would count when their time
        // comes. Only another program can have written so many that this is slow.
        try self.database.run(
            "DELETE FROM failure WHERE circuit = ?1 AND at > ?2", self.key, .integer(self.now.microseconds))
        let newest = try self.database.first(
            "SELECT at FROM failure WHERE circuit = ?1 ORDER BY at DESC LIMIT 1", self.key
        ) { StoreTime(microseconds: $0.integer(0)) }
        if let newest { self.drop(before: newest.adding(1)) }
        self.counted = nil
        self.sequences = [:]
    }

    /// Deletes expired rows, but at most `mayDelete`: to delete a million would keep all other processes waiting.
    private func sweep() throws(BreakerStoreError) {
        guard let since = self.noted.since else { return }
        let before = self.database.connection.changes
        try self.database.run(
            """
            DELETE FROM failure WHERE circuit = ?1 AND (at, worker, sequence) IN (SELECT at, worker, sequence
            FROM failure WHERE circuit = ?1 AND at < ?2 ORDER BY at, worker, sequence LIMIT ?3)
            """,
            self.key, .integer(since.microseconds), .integer(self.mayDelete)
        )
        self.mayDelete -= self.database.connection.changes - before
        guard self.mayDelete > 0 else { return }
        self.noted.since = nil
        self.counted?.tally.start = nil
        self.counted?.tally.hasExpired = false
    }

    // MARK: - What the machine asks

    func contains(worker: Int64, sequence: Int64) -> Bool {
        self.answer(false) { () throws(BreakerStoreError) in
            if let known = self.sequences[worker] { return known.contains(sequence) }
            let known = Set(
                try self.database.all(
                    """
                    SELECT sequence FROM (SELECT worker, sequence FROM failure WHERE circuit = ?1
                    ORDER BY at DESC LIMIT ?3) WHERE worker = ?2
                    """,
                    self.key, .integer(worker), .integer(self.mostRows)
                ) { $0.integer(0) })
            self.sequences[worker] = known
            return known.contains(sequence)
        }
    }

    func newestOfEachWorker() -> [Circuit.Failure] {
        self.answer([]) { () throws(BreakerStoreError) in
            var newest: [Int64: Circuit.Failure] = [:]
            try self.database.forEach(
                """
                SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at >= ?2
                ORDER BY at DESC, worker DESC, sequence DESC LIMIT ?3
                """,
                [self.key, .integer(self.countsFrom.microseconds), .integer(self.mostRows)]
            ) { row in
                let worker = row.integer(1)
                if newest[worker] == nil { newest[worker] = Circuit.Failure(row) }
            }
            return Array(newest.values)
        }
    }

    func oldest(_ count: Int) -> [Circuit.Failure] {
        self.answer([]) { () throws(BreakerStoreError) in
            try self.database.all(
                """
                SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at >= ?2
                ORDER BY at, worker, sequence LIMIT ?3
                """,
                self.key, .integer(self.countsFrom.microseconds), .integer(min(Int64(max(0, count)), Self.atOnce)),
                read: Circuit.Failure.init)
        }
    }

    /// Failures before this instant do not count.
    private var countsFrom: StoreTime { self.counted?.countsFrom ?? Self.first }

    /// The number of rows that the rules keep, and some more.
    private var mostRows: Int64 { Database.mostFailures(under: self.rules) }

    private func answer<Answer>(
        _ none: Answer,
        _ ask: () throws(BreakerStoreError) -> Answer
    ) -> Answer {
        do throws(BreakerStoreError) {
            return try ask()
        } catch {
            self.error = error
            return none
        }
    }
}

extension Circuit.Failure {
    /// Reads the first three columns: `at`, `worker` and `sequence`.
    init(_ row: Row) {
        self.init(
            at: StoreTime(microseconds: row.integer(0)),
            worker: row.integer(1),
            sequence: row.integer(2)
        )
    }
}
