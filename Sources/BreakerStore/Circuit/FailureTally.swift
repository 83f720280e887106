/// How many failures of a circuit count, without the failures themselves: a busy gateway keeps thousands.
struct FailureTally: Hashable, Sendable {
    var count = 0
    /// When the oldest of these failures ended.
    var oldest: StoreTime?
    /// Whether any kept failure counts no longer.
    var hasExpired = false
    /// Failures before this instant never count, under any rule; nil if no such failures are kept.
    var start: StoreTime?

    static let none = FailureTally()

    mutating func add(_ failure: Circuit.Failure) {
        self.count += 1
        self.oldest = min(self.oldest ?? failure.at, failure.at)
    }
}

/// A change that the machine makes to the kept failures.
enum FailureChange: Hashable, Sendable {
    case insert(Circuit.Failure)
    case drop(Circuit.Failure)
    /// Failures that ended before this instant count no longer.
    case dropBefore(StoreTime)
    case dropAll
}

/// The failures of one circuit, for the few questions that a tally does not answer.
///
/// The machine asks these questions before it changes anything.
protocol KeptFailures {
    /// Whether a failure with this key is kept.
    func contains(worker: Int64, sequence: Int64) -> Bool
    /// Of each worker, the newest failure that counts, in any order.
    func newestOfEachWorker() -> [Circuit.Failure]
    /// At most `count` of the failures that count, oldest first.
    func oldest(_ count: Int) -> [Circuit.Failure]
}
