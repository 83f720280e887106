/// A share that the calls on the board reach, while other processes may have good calls that are not there yet.
///
/// The good calls are never too few. All good calls that the board ever had are read before the window's are, and only
/// rise: a good call that is published meanwhile is in the window, or in what has come since, or in both.
struct SuspectedShare: Sendable {
    private let counter: CircuitCounter
    private let calls: Circuit.CountedCalls
    /// All good calls that the board had before the windows were summed up, as each rule sees them.
    private let goodBefore: [WindowSubject: Int64]

    /// Nil if no share is reached.
    init?(of counter: CircuitCounter, by rules: Rules, inStretch stretch: Int64, _ clock: () -> Int64) {
        let good = counter.goodEver
        let calls = counter.sums(inStretch: stretch, clock)
        guard rules.share(reachedBy: calls) != nil else { return nil }
        self.counter = counter
        self.calls = calls
        self.goodBefore = good
    }

    /// The bad calls of then, among the good calls of then and of since; none if the board is lost.
    var counted: Circuit.CountedCalls {
        let good = self.counter.goodEver
        // Asked after the numbers are read: those of a lost board are zeros.
        guard !self.counter.isLost else { return Circuit.CountedCalls() }
        var counted = Circuit.CountedCalls()
        for (subject, before) in self.goodBefore {
            // Somebody may have written any numbers to the board.
            let since = max(0, (good[subject] ?? 0).subtractingSaturating(before))
            counted[subject] = self.calls[subject].map {
                CallCounts(calls: $0.calls.addingSaturating(since), bad: $0.bad)
            }
        }
        return counted
    }
}
