/// Saves the counts of boards in the file, because a board does not outlive the boot.
///
/// The column `board` has a board's number; or a worker's id, for the counts of a worker without a board; or 0, for the
/// sum over such workers that are gone.
extension Database {
    /// Saves counters: those of a board as they are, those of a worker (`own`) added to what it saved before.
    func saveCounters(_ counters: [CircuitCounters]) throws(BreakerStoreError) {
        for entry in counters {
            // `own` marks private counts, whose totals are the increase since the last save; a board's are full counts.
            if entry.own != nil {
                // Other processes find the worker's counters by this row when the worker is dead.
                try self.run(
                    "INSERT OR IGNORE INTO registration (worker, circuit) SELECT ?2, id FROM circuit WHERE id = ?1",
                    .integer(entry.id), .integer(entry.board))
            }
            func number(_ count: UInt64) -> SQLValue { .integer(Int64(clamping: count)) }
            if let totals = entry.totals {
                try self.run(
                    entry.own == nil ? Self.totalsOfBoard : Self.totalsOfWorker, .integer(entry.id),
                    .integer(entry.incarnation), .integer(entry.board), number(totals.succeeded), number(totals.failed),
                    number(totals.slow), number(totals.ignored), number(totals.refused))
            }
            guard let durations = entry.durations else { continue }
            for (bucket, count) in (durations.calls + [durations.sum]).enumerated() where count > 0 {
                try self.run(
                    entry.own == nil ? Self.durationsOfBoard : Self.durationsOfWorker, .integer(entry.id),
                    .integer(entry.incarnation), .integer(entry.board), .integer(Int64(bucket)), number(count))
            }
        }
    }

    private static let totals = ["succeeded", "failed", "slow", "ignored", "refused"]
    private static let totalsOfBoard = upsert("counters", totals, merging: { highest($0) })
    private static let totalsOfWorker = upsert("counters", totals, merging: { sum($0) })
    private static let durationsOfBoard = upsert("duration", ["count"], andBy: "bucket, ", merging: { highest($0) })
    private static let durationsOfWorker = upsert("duration", ["count"], andBy: "bucket, ", merging: { sum($0) })

    /// A statement that inserts counts, or merges them with those of the row that exists.
    ///
    /// - Parameter key: SQL text, "bucket, " or empty: the column, besides circuit and board, that identifies a row.
    private static func upsert(
        _ table: String, _ counts: [String], andBy key: String = "", merging: (String) -> String
    ) -> SQL {
        let columns = key + counts.joined(separator: ", ")
        let values = (4..<4 + columns.split(separator: ",").count).map { "?\($0)" }.joined(separator: ", ")
        return SQL(
            composed: """
                INSERT INTO \(table) (circuit, board, \(columns))
                SELECT id, ?3, \(values) FROM circuit WHERE id = ?1 AND incarnation = ?2
                ON CONFLICT (circuit, board\(key.isEmpty ? "" : ", bucket")) DO UPDATE SET
                \(counts.map(merging).joined(separator: ", "))
                """)
    }

    /// SQL text: several processes may save the counts of one board, and the highest count is the newest.
    private static func highest(_ count: String) -> String { "\(count) = max(\(count), excluded.\(count))" }

    /// SQL text: adds without overflow, which SQLite would turn into a floating-point number that the table rejects.
    private static func sum(_ count: String) -> String {
        "\(count) = \(count) + min(excluded.\(count), 9223372036854775807 - \(count))"
    }

    private static let incarnations: SQL = "SELECT incarnation FROM circuit"

    /// The incarnations of all circuits in the file.
    func incarnations() throws(BreakerStoreError) -> Set<Int64> {
        var incarnations: Set<Int64> = []
        try self.forEach(Self.incarnations, []) { row in incarnations.insert(row.integer(0)) }
        return incarnations
    }

    /// Moves the counts of a worker without a board to board 0, the sum over all workers that are gone.
    ///
    /// Called for a dead or leaving worker: otherwise each process that can't use a board would leave a row for each
    /// circuit.
    func foldCounters(of worker: WorkerID) throws(BreakerStoreError) {
        for fold in Self.foldsOfWorker { try self.run(fold, SQLValue(worker)) }
    }

    /// Does the same for one circuit that the worker no longer uses.
    func foldCounters(of worker: WorkerID, circuit: Int64) throws(BreakerStoreError) {
        for fold in Self.foldsOfCircuit { try self.run(fold, SQLValue(worker), .integer(circuit)) }
    }

    private static let foldsOfWorker = Database.folds(
        "board = ?1 AND circuit IN (SELECT circuit FROM registration WHERE worker = ?1)")
    private static let foldsOfCircuit = Database.folds("board = ?1 AND circuit = ?2")

    private static func folds(_ condition: String) -> [SQL] {
        Database.fold("counters", condition, Self.totals)
            + Database.fold("duration", condition, andBy: ", bucket", ["count"])
    }

    /// Statements that move rows to board 0.
    ///
    /// - Parameters:
    ///   - condition: SQL text that selects the rows.
    ///   - key: SQL text, ", bucket" or empty: the column, besides circuit and board, that identifies a row.
    private static func fold(
        _ table: String, _ condition: String, andBy key: String = "", _ counts: [String]
    ) -> [SQL] {
        let values = counts.joined(separator: ", ")
        let sums = counts.map { Database.sum($0) }
        return [
            SQL(
                composed: """
                    INSERT INTO \(table) (circuit, board\(key), \(values))
                    SELECT circuit, 0\(key), \(values) FROM \(table) WHERE \(condition)
                    ON CONFLICT (circuit, board\(key)) DO UPDATE SET \(sums.joined(separator: ", "))
                    """),
            SQL(composed: "DELETE FROM \(table) WHERE \(condition)"),
        ]
    }

    private static let boards: SQL = """
        SELECT board, succeeded, failed, slow, ignored, refused FROM counters WHERE circuit = ?1 LIMIT 10000
        """

    /// The sum of a circuit's counts over all boards.
    ///
    /// - Parameters:
    ///   - board: the counts on the current board, which are newer than the file's; nil if there are none.
    ///   - number: the number of the current board.
    func totals(
        of circuit: Int64, with board: CellTotals?, ofBoard number: Int64?
    ) throws(BreakerStoreError) -> CellTotals {
        var totals = board ?? CellTotals()
        try self.forEach(Self.boards, [.integer(circuit)]) { row in
            if board != nil, row.integer(0) == number { return }
            func count(_ column: Int32) -> UInt64 { UInt64(clamping: row.integer(column)) }
            totals.add(
                CellTotals(
                    succeeded: count(1), failed: count(2), slow: count(3), ignored: count(4), refused: count(5)))
        }
        return totals
    }
}

/// Reads how long calls took, from the current board and from the file.
extension Database {
    private static let buckets: SQL = "SELECT board, bucket, count FROM duration WHERE circuit = ?1 LIMIT 100000"

    /// The durations of a circuit's calls over all boards; nil if no process has measured any.
    func durations(
        of circuit: Int64, with board: DurationBuckets?, ofBoard number: Int64?
    ) throws(BreakerStoreError) -> DurationBuckets? {
        var counts = board.map { $0.calls + [$0.sum] }
        try self.forEach(Self.buckets, [.integer(circuit)]) { row in
            let bucket = Int(clamping: row.integer(1))
            guard board == nil || row.integer(0) != number, (0...DurationBuckets.buckets).contains(bucket)
            else { return }
            var sums = counts ?? Array(repeating: 0, count: DurationBuckets.buckets + 1)
            let (sum, overflow) = sums[bucket].addingReportingOverflow(UInt64(clamping: row.integer(2)))
            sums[bucket] = overflow ? .max : sum
            counts = sums
        }
        return counts.map { DurationBuckets(calls: Array($0.dropLast()), sum: $0[DurationBuckets.buckets]) }
    }
}

extension CellTotals {
    /// Adds the counts of another board, without overflow: a file may have any numbers.
    mutating func add(_ other: CellTotals) {
        func sum(_ one: UInt64, _ other: UInt64) -> UInt64 {
            let (sum, overflow) = one.addingReportingOverflow(other)
            return overflow ? .max : sum
        }
        self.succeeded = sum(self.succeeded, other.succeeded)
        self.failed = sum(self.failed, other.failed)
        self.slow = sum(self.slow, other.slow)
        self.ignored = sum(self.ignored, other.ignored)
        self.refused = sum(self.refused, other.refused)
    }
}

extension CallTotals {
    init(_ totals: CellTotals, _ durations: DurationBuckets?) {
        self.init(
            succeeded: totals.succeeded, failed: totals.failed, slow: totals.slow, ignored: totals.ignored,
            refused: totals.refused, durations: durations.map { Durations($0) })
    }
}

extension CallTotals.Durations {
    init(_ buckets: DurationBuckets) {
        let bounds = buckets.calls.indices.compactMap { DurationBuckets.bound($0) }
        self.init(
            bounds: bounds.map { Duration(wholeMicroseconds: $0) }, counts: buckets.calls,
            sum: Duration(wholeMicroseconds: Int64(clamping: buckets.sum)))
    }
}
