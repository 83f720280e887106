/// How many failures of a circuit count, without the failures themselves: a busy gateway keeps thousands.
struct FailureTally: Hashable, Sendable {
    var count = 0
    /// When the oldest of them ended.
    var oldest: StoreTime?
    /// Whether failures are still kept that count no longer.
    var hasExpired = false
    /// Failures from before never count, whatever the rule is; nil if there are none that are kept.
    var start: StoreTime?

    static let none = FailureTally()

    mutating func add(_ failure: Circuit.Failure) {
        self.count += 1
        self.oldest = min(self.oldest ?? failure.at, failure.at)
    }
}

/// What the machine wants done to the failures that are kept.
enum FailureChange: Hashable, Sendable {
    case insert(Circuit.Failure)
    case drop(Circuit.Failure)
    /// Those that ended before this instant count no longer.
    case dropBefore(StoreTime)
    case dropAll
}

/// The failures of one circuit, for the few questions that a tally does not answer.
///
/// The machine asks them before it changes anything.
protocol KeptFailures {
    /// Whether a failure is kept that has this key.
    func contains(worker: Int64, sequence: Int64) -> Bool
    /// The newest failure that counts of each worker, in any order.
    func newestOfEachWorker() -> [Circuit.Failure]
    /// So many of those that count, oldest first.
    func oldest(_ count: Int) -> [Circuit.Failure]
}
