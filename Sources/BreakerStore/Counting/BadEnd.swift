/// The end of a call that failed, was slow, or both.
struct BadEnd: Equatable, Sendable {
    var isFailed: Bool
    var isSlow: Bool
    /// Whether the end counts in totals alone, and in no window.
    ///
    /// So it is if the circuit has changed its state since the call was let through, or was not closed then.
    var isLate = false

    /// The same end, for totals alone.
    var late: BadEnd { BadEnd(isFailed: self.isFailed, isSlow: self.isSlow, isLate: true) }
}
