/// How many failures of a circuit count, without the failures themselves: a busy gateway has thousands.
struct FailureCount: Hashable, Sendable {
    var count = 0
    /// When the oldest of these failures ended.
    var oldest: StoreTime?
    /// Whether any kept failure is too old to count.
    var hasExpired = false
    /// The failures before this instant were dropped, but rows of them may still wait to be deleted; nil if none wait.
    ///
    /// A late failure from before it is not kept: its row would be deleted together with them.
    var droppedBefore: StoreTime?

    static let none = FailureCount()

    mutating func add(_ failure: Circuit.Failure) {
        self.count += 1
        self.oldest = min(self.oldest ?? failure.at, failure.at)
    }
}

/// A change that the state machine makes to the kept failures.
enum FailureChange: Hashable, Sendable {
    case insert(Circuit.Failure)
    case drop(Circuit.Failure)
    /// Drop the failures that ended before this instant.
    case dropBefore(StoreTime)
    case dropAll
}

/// The failures of one circuit, for the few questions that a `FailureCount` does not answer.
///
/// They are as before the event: their owner applies an event's changes after the event.
protocol KnownFailures {
    /// Whether a failure with this key is kept.
    func contains(worker: WorkerID, sequence: Int64) -> Bool
    /// The newest failure of each worker that counts, in any order.
    func newestOfEachWorker() -> [Circuit.Failure]
    /// The oldest failures that count, at most `count`, oldest first.
    func oldest(_ count: Int) -> [Circuit.Failure]
}
