/// How one attempt of a call went.
///
/// The function that made the attempt keeps the operation's value.
struct Attempt {
    /// How the operation ended; nil if it did not run.
    var ending: Ending?
    /// The error that the caller gets in place of a value: the operation's own, a time-out, or the refusal.
    var error: (any Error)?

    /// Gives the caller the value, or throws the error.
    ///
    /// - Parameter value: the value that the operation returned; not nil if the attempt has no error.
    func get<T>(_ value: T?) throws -> T {
        if let error = self.error { throw error }
        guard let value else { throw CancellationError() }
        return value
    }

    /// The error that a fallback may replace; nil if the caller gets the value, or the error as it is.
    ///
    /// A cancelled caller no longer wants an answer, and an ignored end says nothing about the service. But a refusal
    /// is for the fallback, whichever circuit refused: a call was not made.
    var errorForFallback: (any Error)? {
        if Task.isCancelled { return nil }
        guard let ending = self.ending else { return self.error }
        switch ending.verdict {
        case .failure, .outage: return ending.error
        case .ignored: return ending.error is CircuitOpenError ? ending.error : nil
        case .success: return nil
        }
    }

    var result: CallOutcome.Result { self.ending.map { CallOutcome.Result($0.verdict) } ?? .refused }
}
