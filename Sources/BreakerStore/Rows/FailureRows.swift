/// The rows of one circuit in the table `failure`, inside transactions that may write.
///
/// What was counted in one transaction stays true for the next, as long as nobody else commits in between.
///
/// The rows are counted by SQLite and never all read: there may be as many as the circuit's rule keeps, and any number
/// if another program wrote them.
final class FailureRows: KeptFailures {
    /// What was counted; it stays true until somebody else writes.
    fileprivate struct Counted {
        var tally: FailureTally
        /// Only failures since then were counted.
        var start: Int64
        /// When the newest of all failures ended.
        var newestAt: Int64
        /// The newest of each worker among them; nil if nobody has asked, or too many workers have failed.
        var newest: [Int64: Circuit.Failure]?

        mutating func add(_ failure: Circuit.Failure) {
            self.tally.add(failure)
            self.newestAt = max(self.newestAt, failure.at.microseconds)
            if let known = self.newest?[failure.worker], failure < known { return }
            self.newest?[failure.worker] = failure
        }
    }

    private let circuit: Int64
    private var rules: Rules
    private let database: Database
    private var now = StoreTime(microseconds: 0)
    private var counted: Counted?
    /// The sequences of a worker's reports, read when the first of them may be known already.
    private var sequences: [Int64: Set<Int64>] = [:]
    /// Why the machine got no answer; nothing that came of it may be committed.
    private var error: BreakerStoreError?

    init(of row: CircuitRow, in database: Database) {
        self.circuit = row.id
        self.rules = row.circuit.rules
        self.database = database
    }

    /// Whether there is any row, as far as is known.
    var mayBeAny: Bool { self.counted.map { $0.tally.count > 0 || $0.tally.hasExpired } ?? true }

    // MARK: - For the funnel

    /// The failures that count for the circuit just now; in a state in which none matter, none.
    func tally(for circuit: Circuit, at now: StoreTime) throws(BreakerStoreError) -> FailureTally {
        self.now = now
        self.rules = circuit.rules
        guard case .closed = circuit.state, circuit.rules.isKnown else { return .none }
        let start = circuit.failuresCount(from: self.now)?.microseconds ?? .min
        guard var counted = self.counted, counted.start <= start else { return try self.read(since: start) }
        if let oldest = counted.tally.oldest, oldest.microseconds < start {
            let gone = try self.database.first(Self.countBetween, self.key, .integer(counted.start), .integer(start)) {
                Int(clamping: $0.integer(0))
            }
            counted.tally.count = max(0, counted.tally.count - (gone ?? 0))
            counted.tally.oldest = try self.oldest(since: start)
            counted.tally.hasExpired = true
            counted.newest = counted.newest?.filter { $0.value.at.microseconds >= start }
        }
        counted.start = start
        self.counted = counted
        return counted.tally
    }

    func apply(_ changes: [FailureChange]) throws(BreakerStoreError) {
        if let error = self.error { throw error }
        for change in changes {
            switch change {
            case .insert(let failure): try self.insert(failure)
            case .drop(let failure): try self.drop(failure)
            case .dropBefore(let start): try self.drop(before: start.microseconds)
            case .dropAll:
                try self.database.run("DELETE FROM failure WHERE circuit = ?1", self.key)
                self.counted = Counted(tally: .none, start: .min, newestAt: .min)
                self.sequences = [:]
            }
        }
    }

    /// The transaction has asked for the last time; what would take much memory is dropped.
    func endTransaction() {
        self.sequences = [:]
        if self.counted?.newest?.count ?? 0 > 100 { self.counted?.newest = nil }
    }

    private var key: SQLValue { .integer(self.circuit) }

    // MARK: - Counting

    private static let all: SQL = """
        SELECT (SELECT at FROM failure WHERE circuit = ?1 AND at >= ?2 ORDER BY at LIMIT 1),
        (SELECT at FROM failure WHERE circuit = ?1 ORDER BY at DESC LIMIT 1),
        (SELECT at FROM failure WHERE circuit = ?1 ORDER BY at LIMIT 1) < ?2, count(*)
        FROM failure WHERE circuit = ?1 AND at >= ?2
        """
    private static let countBetween: SQL =
        "SELECT count(*) FROM failure WHERE circuit = ?1 AND at >= ?2 AND at < ?3"
    private static let first: SQL = "SELECT at FROM failure WHERE circuit = ?1 AND at >= ?2 ORDER BY at LIMIT 1"

    private func read(since start: Int64) throws(BreakerStoreError) -> FailureTally {
        var counted = try self.count(since: start)
        if counted.newestAt > self.now.microseconds {
            try self.takeStampsAheadForNow()
            counted = try self.count(since: start)
        }
        self.counted = counted
        return counted.tally
    }

    private func count(since start: Int64) throws(BreakerStoreError) -> Counted {
        try self.database.first(Self.all, self.key, .integer(start)) { Counted($0, start: start) }
            ?? Counted(tally: .none, start: start, newestAt: .min)
    }

    private func oldest(since start: Int64) throws(BreakerStoreError) -> StoreTime? {
        try self.database.first(Self.first, self.key, .integer(start)) { StoreTime(microseconds: $0.integer(0)) }
    }

    /// How many rows one change looks at, if somebody has written more than any rule keeps.
    private static let atOnce: Int64 = 10_000

    /// A stamp that lies ahead counts as now, and is written so.
    private func takeStampsAheadForNow() throws(BreakerStoreError) {
        let ahead = try self.database.all(
            "SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at > ?2 ORDER BY at DESC LIMIT ?3",
            self.key, .integer(self.now.microseconds), .integer(Self.atOnce), read: Circuit.Failure.init)
        for var failure in ahead {
            try self.delete(failure)
            failure.at = self.now
            // Two rows with one key differ in their stamps alone, and are the same row now.
            try self.write(failure)
        }
    }

    // MARK: - Changing

    private func insert(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        let changes = self.database.connection.changes
        try self.write(failure)
        if self.database.connection.changes == changes {
            // Somebody else has written a row with this very key.
            self.counted = nil
        } else {
            self.counted?.add(failure)
        }
        self.sequences[failure.worker]?.insert(failure.sequence)
    }

    private func write(_ failure: Circuit.Failure) throws(BreakerStoreError) {
        try self.database.run(
            // Not OR IGNORE, which leaves out a row without a word, too, that somebody's column or index refuses.
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
        guard var counted = self.counted else { return }
        counted.tally.count = max(0, counted.tally.count - 1)
        if counted.newest?[failure.worker] == failure { counted.newest = nil }
        if counted.tally.oldest == failure.at { counted.tally.oldest = try self.oldest(since: counted.start) }
        self.counted = counted
    }

    private func drop(before start: Int64) throws(BreakerStoreError) {
        self.sequences = [:]
        guard var counted = self.counted, start <= counted.start else {
            // A success has forgotten failures that counted.
            try self.database.run(
                "DELETE FROM failure WHERE circuit = ?1 AND at < ?2", self.key, .integer(start))
            self.counted = nil
            return
        }
        let changes = self.database.connection.changes
        try self.database.run(
            """
            DELETE FROM failure WHERE circuit = ?1 AND at < min(?2, coalesce((SELECT at FROM failure
            WHERE circuit = ?1 AND at < ?2 ORDER BY at LIMIT 1 OFFSET ?3), ?2))
            """,
            self.key, .integer(start), .integer(Self.atOnce)
        )
        counted.tally.hasExpired = self.database.connection.changes - changes >= Self.atOnce
        self.counted = counted
    }

    // MARK: - What the machine asks

    func contains(worker: Int64, sequence: Int64) -> Bool {
        self.answer(false) { () throws(BreakerStoreError) in
            if let known = self.sequences[worker] { return known.contains(sequence) }
            let known = Set(
                try self.database.all(
                    "SELECT sequence FROM failure WHERE circuit = ?1 AND worker = ?2 ORDER BY at DESC LIMIT ?3",
                    self.key, .integer(worker), .integer(self.mostRows)
                ) { $0.integer(0) })
            self.sequences[worker] = known
            return known.contains(sequence)
        }
    }

    func newestOfEachWorker() -> [Circuit.Failure] {
        self.answer([]) { () throws(BreakerStoreError) in
            if let newest = self.counted?.newest { return Array(newest.values) }
            var newest: [Int64: Circuit.Failure] = [:]
            try self.database.forEach(
                """
                SELECT at, worker, sequence FROM failure WHERE circuit = ?1 AND at >= ?2
                ORDER BY at DESC, worker DESC, sequence DESC LIMIT ?3
                """,
                [self.key, .integer(self.counted?.start ?? .min), .integer(self.mostRows)]
            ) { row in
                let worker = row.integer(1)
                if newest[worker] == nil { newest[worker] = Circuit.Failure(row) }
            }
            self.counted?.newest = newest
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
                self.key, .integer(self.counted?.start ?? .min), .integer(min(Int64(max(0, count)), Self.atOnce)),
                read: Circuit.Failure.init)
        }
    }

    /// As many rows as the rules keep, and some more.
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

extension FailureRows.Counted {
    /// Reads the oldest failure that counts, the newest of all, and whether any counts no longer.
    fileprivate init(_ row: Row, start: Int64) {
        let tally = FailureTally(
            count: Int(clamping: row.integer(3)),
            oldest: row.optionalInteger(0).map(StoreTime.init(microseconds:)),
            hasExpired: row.integer(2) != 0
        )
        self.init(tally: tally, start: start, newestAt: row.optionalInteger(1) ?? .min)
    }
}

extension Circuit.Failure {
    /// Reads `at`, `worker` and `sequence`.
    init(_ row: Row) {
        self.init(
            at: StoreTime(microseconds: row.integer(0)),
            worker: row.integer(1),
            sequence: row.integer(2)
        )
    }
}
