/// A share that the calls on the board reach, while other processes may have good calls that are not there yet.
///
/// The good calls are never too few. All good calls that the board ever had are read before the window's are, and only
/// rise: a good call that is published meanwhile is in the window, or in what has come since, or in both.
struct SuspectedShare: Sendable {
    private let counter: CircuitCounter
    private let share: Circuit.ReachedShare
    /// All good calls that the board had before the share was summed up.
    private let goodBefore: Int64

    /// Nil if no share is reached.
    init?(of counter: CircuitCounter, by rules: Rules, at uptime: Int64, epoch: Int64) {
        let good = counter.goodCallsAtLeast
        guard let share = rules.share(reachedBy: counter.counted(at: uptime, epoch: epoch)) else { return nil }
        self.counter = counter
        self.share = share
        self.goodBefore =
            switch share {
            case .failed: good.failed
            case .slow: good.slow
            }
    }

    /// The bad calls of then, among the good calls of then and of since.
    var counted: Circuit.CountedCalls {
        let good = self.counter.goodCallsAtMost
        func counted(_ calls: CallCounts, _ good: Int64) -> CallCounts {
            CallCounts(calls: calls.calls + max(0, good &- self.goodBefore), bad: calls.bad)
        }
        return switch self.share {
        case .failed(let calls): Circuit.CountedCalls(failed: counted(calls, good.failed))
        case .slow(let calls): Circuit.CountedCalls(slow: counted(calls, good.slow))
        }
    }
}
