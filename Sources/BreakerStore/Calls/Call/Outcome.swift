/// How a call ended, as the policy judges it.
@usableFromInline
struct Outcome: Sendable {
    var verdict: Verdict
    /// The text to store for a failure without an error; for an error, the policy makes the text.
    var text: String?
    /// The error that the operation threw, or that its value stands for; nil for a success, and for a value that is a
    /// failure without an error.
    var error: (any Error)?
    /// Whether the caller gets the error: the operation threw it, or timed out.
    var isThrown = false
    /// How many microseconds the operation took; nil if the call was not measured.
    var duration: Int64?

    static let success = Outcome(verdict: .success)
    static let ignored = Outcome(verdict: .ignored)

    /// The error that a fallback may replace; nil if the caller gets the value, or the error as it is.
    ///
    /// An ignored outcome says nothing about the dependency, so the caller gets its error as it is. A refusal is
    /// replaced, whichever circuit refused: the call was not made.
    var replaceableError: (any Error)? {
        switch self.verdict {
        case .failure, .outage: self.error
        case .ignored: self.error is CircuitOpenError ? self.error : nil
        case .success: nil
        }
    }
}
