/// Keeps the counts of boards in the file: a board does not outlive the boot.
extension Database {
    func saveTallies(_ tallies: [Tally]) throws(BreakerStoreError) {
        for tally in tallies {
            if tally.own != nil {
                // Other processes find the worker's tallies by this row when the worker is dead.
                try self.run(
                    "INSERT OR IGNORE INTO registration (worker, circuit) SELECT ?2, id FROM circuit WHERE id = ?1",
                    .integer(tally.id), .integer(tally.board))
            }
            func number(_ count: UInt64) -> SQLValue { .integer(Int64(clamping: count)) }
            if let totals = tally.totals {
                try self.run(
                    tally.own == nil ? Self.totalsOfBoard : Self.totalsOfWorker, .integer(tally.id),
                    .integer(tally.incarnation), .integer(tally.board), number(totals.succeeded), number(totals.failed),
                    number(totals.slow), number(totals.ignored), number(totals.refused))
            }
            guard let durations = tally.durations else { continue }
            for (bucket, count) in (durations.calls + [durations.sum]).enumerated() where count > 0 {
                try self.run(
                    tally.own == nil ? Self.durationsOfBoard : Self.durationsOfWorker, .integer(tally.id),
                    .integer(tally.incarnation), .integer(tally.board), .integer(Int64(bucket)), number(count))
            }
        }
    }

    private static let totals = ["succeeded", "failed", "slow", "ignored", "refused"]
    private static let totalsOfBoard = saving("counters", totals) { greatest($0) }
    private static let totalsOfWorker = saving("counters", totals) { sum($0) }
    private static let durationsOfBoard = saving("duration", ["count"], inEach: "bucket, ") { greatest($0) }
    private static let durationsOfWorker = saving("duration", ["count"], inEach: "bucket, ") { sum($0) }

    /// Saves counts.
    ///
    /// - Parameter key: SQL text, "bucket, " or empty: the column, besides circuit and board, that identifies a row.
    private static func saving(
        _ table: String, _ counts: [String], inEach key: String = "", merging: (String) -> String
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

    /// Several processes may save the counts of one board: the highest count is the newest.
    private static func greatest(_ count: String) -> String { "\(count) = max(\(count), excluded.\(count))" }

    /// Beyond the greatest integer SQLite would continue with a floating-point number, which the table does not take.
    private static func sum(_ count: String) -> String {
        "\(count) = \(count) + min(excluded.\(count), 9223372036854775807 - \(count))"
    }

    private static let incarnations: SQL = "SELECT incarnation FROM circuit"

    func incarnations() throws(BreakerStoreError) -> Set<Int64> {
        var incarnations: Set<Int64> = []
        try self.forEach(Self.incarnations, []) { row in incarnations.insert(row.integer(0)) }
        return incarnations
    }

    /// Moves the counts that a worker kept off the board to board 0, the sum of all workers that are gone.
    ///
    /// A worker without a board saves its counts with its own number as the board's. Called for a dead or leaving
    /// worker: otherwise each process that can't use a board would leave a row for each circuit.
    func foldTallies(of worker: Int64) throws(BreakerStoreError) {
        for fold in Self.foldsOfWorker { try self.run(fold, .integer(worker)) }
    }

    /// Does the same for one circuit, of which the worker saves no more counts.
    func foldTallies(of worker: Int64, circuit: Int64) throws(BreakerStoreError) {
        for fold in Self.foldsOfCircuit { try self.run(fold, .integer(worker), .integer(circuit)) }
    }

    private static let foldsOfWorker = Database.folds(
        "board = ?1 AND circuit IN (SELECT circuit FROM registration WHERE worker = ?1)")
    private static let foldsOfCircuit = Database.folds("board = ?1 AND circuit = ?2")

    private static func folds(_ own: String) -> [SQL] {
        Database.fold("counters", own, Self.totals)
            + Database.fold("duration", own, andBy: ", bucket", ["count"])
    }

    /// Moves rows to board 0; `others` is the column, besides circuit and board, that identifies a row.
    private static func fold(
        _ table: String, _ own: String, andBy others: String = "", _ counts: [String]
    ) -> [SQL] {
        let values = counts.joined(separator: ", ")
        let sums = counts.map { Database.sum($0) }
        return [
            SQL(
                composed: """
                    INSERT INTO \(table) (circuit, board\(others), \(values))
                    SELECT circuit, 0\(others), \(values) FROM \(table) WHERE \(own)
                    ON CONFLICT (circuit, board\(others)) DO UPDATE SET \(sums.joined(separator: ", "))
                    """),
            SQL(composed: "DELETE FROM \(table) WHERE \(own)"),
        ]
    }

    private static let boards: SQL = """
        SELECT board, succeeded, failed, slow, ignored, refused FROM counters WHERE circuit = ?1 LIMIT 10000
        """

    /// The counts of a circuit, from all boards.
    ///
    /// - Parameters:
    ///   - board: the counts on the present board, which are newer than the file's; nil if there are none.
    ///   - number: the number of the present board.
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

/// Reads how long calls took, from the present board and from the file.
extension Database {
    private static let buckets: SQL = "SELECT board, bucket, count FROM duration WHERE circuit = ?1 LIMIT 100000"

    /// Nil where no process has measured.
    func durations(
        of circuit: Int64, with board: DurationBuckets?, ofBoard number: Int64?
    ) throws(BreakerStoreError) -> DurationBuckets? {
        var counts = board.map { $0.calls + [$0.sum] }
        try self.forEach(Self.buckets, [.integer(circuit)]) { row in
            let bucket = Int(clamping: row.integer(1))
            guard board == nil || row.integer(0) != number, (0...DurationBuckets.count).contains(bucket) else { return }
            var known = counts ?? Array(repeating: 0, count: DurationBuckets.count + 1)
            let (sum, overflow) = known[bucket].addingReportingOverflow(UInt64(clamping: row.integer(2)))
            known[bucket] = overflow ? .max : sum
            counts = known
        }
        return counts.map { DurationBuckets(calls: Array($0.dropLast()), sum: $0[DurationBuckets.count]) }
    }
}

extension CellTotals {
    /// Adds the counts of another board; a file may have any numbers.
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
