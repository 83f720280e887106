/// How one attempt of a call went.
///
/// The function that made the attempt keeps the operation's value.
@usableFromInline
struct Attempt {
    /// How the operation ended; nil if it did not run.
    var ending: Ending?
    /// The error that the caller gets in place of a value: the operation's own, a time-out, or the refusal.
    var error: (any Error)?

    /// Gives the caller the value, or throws the error.
    ///
    /// - Parameter value: the value that the operation returned; not nil if the attempt has no error.
    @usableFromInline
    func get<T>(_ value: T?) throws -> T {
        if let error = self.error { throw error }
        guard let value else { throw CancellationError() }
        return value
    }

    /// The error that a fallback may replace; nil if the caller gets the value, or the error as it is.
    @usableFromInline
    var errorForFallback: (any Error)? {
        if let ending = self.ending { return ending.errorForFallback }
        return Task.isCancelled ? nil : self.error
    }

    var result: CallOutcome.Result { self.ending.map { CallOutcome.Result($0.verdict) } ?? .refused }
}
