/// What a caller does wrong on purpose, to see that the part notices.
enum HistoryFault: String, CaseIterable {
    /// Says what it was told of the circuit before, without asking.
    case staleAnswer = "stale-answer"
    /// Keeps some of the failures to itself.
    case lostFailure = "lost-failure"
    /// Makes a call that was refused because another one probes.
    case secondProbe = "second-probe"
    /// Reports a failure to the circuit as it is now, whenever the call was let through.
    case lateResult = "late-result"
}
