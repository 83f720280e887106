/// How a call ended, as the policy judges it.
@usableFromInline
struct Ending: Sendable {
    var verdict: Verdict
    /// The text to store for a failure without an error; for an error the policy makes the text.
    var text: String?
    /// The error for the caller or a fallback; nil for a success, and for a value that is a failure without being an
    /// error.
    var error: (any Error)?
    /// How many microseconds the operation took; nil if the call was not measured.
    var duration: Int64?

    static let success = Ending(verdict: .success)
    static let ignored = Ending(verdict: .ignored)

    /// The error that a fallback may replace; nil if the caller gets the value, or the error as it is.
    ///
    /// A cancelled caller no longer wants an answer, and an ignored end says nothing about the service. But a refusal
    /// is for the fallback, whichever circuit refused: a call was not made.
    var errorForFallback: (any Error)? {
        if Task.isCancelled { return nil }
        switch self.verdict {
        case .failure, .outage: return self.error
        case .ignored: return self.error is CircuitOpenError ? self.error : nil
        case .success: return nil
        }
    }

    func taking(_ duration: Int64?) -> Ending {
        guard let duration else { return self }
        var ending = self
        ending.duration = duration
        return ending
    }
}
