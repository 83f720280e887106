/// A share that the calls on the board reach, while other processes may have good calls that are not there yet.
///
/// The good calls are never too few. All good calls that the board ever had are read before the window's are, and only
/// rise: a good call that is published meanwhile is in the window, or in what has come since, or in both.
struct SuspectedShare: Sendable {
    private let counter: CircuitCounter
    private let calls: Circuit.CountedCalls
    /// All good calls that the board had before the windows were summed up, as each rule sees them.
    private let goodBefore: (failed: Int64, slow: Int64)

    /// Nil if no share is reached.
    init?(of counter: CircuitCounter, by rules: Rules, at uptime: Int64, epoch: Int64) {
        let good = counter.goodCallsAtLeast
        let calls = counter.counted(at: uptime, epoch: epoch)
        guard rules.share(reachedBy: calls) != nil else { return nil }
        self.counter = counter
        self.calls = calls
        self.goodBefore = good
    }

    /// The bad calls of then, among the good calls of then and of since; none if the board is lost.
    var counted: Circuit.CountedCalls {
        let good = self.counter.goodCallsAtMost
        // Asked after the numbers are read: those of a lost board are zeros.
        guard !self.counter.isLost else { return Circuit.CountedCalls() }
        func counted(_ calls: CallCounts?, _ good: Int64, _ before: Int64) -> CallCounts? {
            // Somebody may have written any numbers to the board.
            let since = max(0, good.subtractingSaturating(before))
            return calls.map { CallCounts(calls: $0.calls.addingSaturating(since), bad: $0.bad) }
        }
        return Circuit.CountedCalls(
            failed: counted(self.calls.failed, good.failed, self.goodBefore.failed),
            slow: counted(self.calls.slow, good.slow, self.goodBefore.slow))
    }
}
