/// Runs guarded calls, each at most once, or once for each attempt of a retry.
extension CircuitBreaker {
    /// Runs `operation` on the caller's actor; neither the operation nor its value need be Sendable.
    ///
    /// Throws the operation's own error, or `CircuitOpenError` if the operation did not run, or `CallTimeoutError` if
    /// it took longer than the policy's timeout. No thread waits for a commit: the task is suspended until it is done.
    /// A decision that is not cached is read from the file on the calling thread.
    /// - Parameter operation: the call to guard.
    @inlinable
    public func run<T>(_ operation: () async throws -> T) async throws -> T {
        try await self.call(operation, { _ in nil })
    }

    /// Runs `operation` as the plain form does; a value for which `isFailure` is true counts as a failure.
    ///
    /// Throws as the plain form does; the value is returned either way. Only the name of a failing value's type is
    /// stored; with `failure`, the policy's `describe` makes the text.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - isFailure: judges a returned value.
    @inlinable
    public func run<T>(_ operation: () async throws -> T, failingWhen isFailure: (T) -> Bool) async throws -> T {
        try await self.call(operation, { isFailure($0) ? self.failingOutcome(of: $0) : nil })
    }

    /// Runs `operation` as the plain form does; a value for which `failure` gives an error counts as that error.
    ///
    /// The policy judges and describes the error as if the operation had thrown it. The value is returned all the same.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - failure: the error that a value stands for; nil for a good value.
    @inlinable
    public func run<T>(_ operation: () async throws -> T, failure: (T) -> (any Error)?) async throws -> T {
        try await self.call(operation, { failure($0).map { self.outcome(of: $0) } })
    }

    /// Runs `operation` as the plain form does; a value for which `failure` gives an error counts as that error.
    ///
    /// `fallback` replaces such a value, a refusal, a failure and a time-out. Throws as the other forms with a fallback
    /// do.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - failure: the error that a value stands for; nil for a good value.
    ///   - fallback: makes a value from the error.
    @inlinable
    public func run<T>(
        _ operation: () async throws -> T,
        failure: (T) -> (any Error)?,
        fallback: (any Error) async throws -> T
    ) async throws -> T {
        try await self.call(operation, { failure($0).map { self.outcome(of: $0) } }, hasFallback: true, fallback)
    }

    /// Runs `operation` as the plain form does, and `fallback` when it was refused, failed or timed out.
    ///
    /// `fallback` also gets a refusal by another circuit, which the operation has thrown. Any other error that the
    /// policy ignores, and any error once the caller's task is cancelled, is thrown without the fallback. Throws what
    /// `fallback` throws; the circuit learns nothing of `fallback`.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - fallback: makes a value from the error.
    @inlinable
    public func run<T>(
        _ operation: () async throws -> T,
        fallback: (any Error) async throws -> T
    ) async throws -> T {
        try await self.call(operation, { _ in nil }, hasFallback: true, fallback)
    }

    /// Runs `operation` as the form with an asynchronous fallback does.
    ///
    /// Without this form, asynchronous code whose operation and fallback happen to be synchronous would get the
    /// blocking form.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - fallback: makes a value from the error.
    @inlinable
    public func run<T>(
        _ operation: () async throws -> T,
        fallback: (any Error) throws -> T
    ) async throws -> T {
        try await self.call(operation, { _ in nil }, hasFallback: true, fallback)
    }

    /// Runs `operation` on the calling thread; the compiler chooses this form in synchronous code.
    ///
    /// To the compiler the top level of `main.swift` is synchronous code, too, as long as neither `operation` nor a
    /// fallback awaits anything.
    ///
    /// Throws the operation's own error, or `CircuitOpenError` if the operation did not run. The calling thread commits
    /// reports, and waits for each commit at most for `busyTimeout`. The policy's timeout is for async calls.
    /// - Parameter operation: the call to guard.
    @inlinable
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T) throws -> T { try self.call(operation, { _ in nil }) }

    /// Runs `operation` as the plain synchronous form does; a value for which `isFailure` is true counts as a failure.
    ///
    /// Throws as that form does; the value is returned either way. Only the name of a failing value's type is stored;
    /// with `failure`, the policy's `describe` makes the text.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - isFailure: judges a returned value.
    @inlinable
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T, failingWhen isFailure: (T) -> Bool) throws -> T {
        try self.call(operation, { isFailure($0) ? self.failingOutcome(of: $0) : nil })
    }

    /// Runs `operation` as the plain synchronous form does; a value for which `failure` gives an error counts as that
    /// error, and is returned all the same.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - failure: the error that a value stands for; nil for a good value.
    @inlinable
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T, failure: (T) -> (any Error)?) throws -> T {
        try self.call(operation, { failure($0).map { self.outcome(of: $0) } })
    }

    /// Runs `operation` as the plain synchronous form does, and `fallback` when it was refused or failed.
    ///
    /// `fallback` also gets a refusal by another circuit, which the operation has thrown. Any other error that the
    /// policy ignores, and any error once the caller's task is cancelled, is thrown without the fallback.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - fallback: makes a value from the error.
    @inlinable
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T, fallback: (any Error) throws -> T) throws -> T {
        try self.call(operation, { _ in nil }, hasFallback: true, fallback)
    }
}
