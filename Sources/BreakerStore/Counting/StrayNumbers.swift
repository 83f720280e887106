/// What a process has counted of a circuit by itself, and what of that is in the row of the file that is the process's.
///
/// The row is under the id of the worker that the process is. Whoever removes a dead worker adds the row to that of
/// all dead workers: then a process that lives all the same begins a row anew, with what it had not told before.
struct StrayNumbers: Sendable {
    /// Under whose id the row is.
    let worker: Int64
    /// All that was counted.
    let all: Numbers
    /// What was told before this row was begun.
    private(set) var before = Numbers()
    /// What was told when the row was written last; nil if this row was not written yet.
    private var told: Numbers?

    struct Numbers: Sendable {
        var totals = BlockTotals()
        var durations: DurationBuckets?

        fileprivate func since(_ before: Numbers) -> Numbers {
            Numbers(
                totals: self.totals.subtracting(before.totals),
                durations: self.durations.map { all in before.durations.map { all.subtracting($0) } ?? all })
        }
    }

    /// - Parameter last: what was told last.
    init(_ all: Numbers, by worker: Int64, after last: StrayNumbers?) {
        self.worker = worker
        self.all = all
        guard let last else { return }
        self.before = last.worker == worker ? last.before : last.all
        self.told = last.worker == worker ? last.all : nil
    }

    /// What is to stand in the row.
    var row: Numbers { self.all.since(self.before) }

    /// Whether the row was written before, so that it must be there.
    var hasRow: Bool { self.told != nil }

    /// Somebody took this worker for dead, and has added the row to another one.
    mutating func beginAnew() {
        if let told = self.told { self.before = told }
        self.told = nil
    }
}

extension BlockTotals {
    fileprivate func subtracting(_ other: BlockTotals) -> BlockTotals {
        BlockTotals(
            succeeded: self.succeeded &- other.succeeded, failed: self.failed &- other.failed,
            slow: self.slow &- other.slow, ignored: self.ignored &- other.ignored,
            refused: self.refused &- other.refused)
    }
}

extension DurationBuckets {
    fileprivate func subtracting(_ other: DurationBuckets) -> DurationBuckets {
        DurationBuckets(calls: zip(self.calls, other.calls).map { $0 &- $1 }, sum: self.sum &- other.sum)
    }
}
