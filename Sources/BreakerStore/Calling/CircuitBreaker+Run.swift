/// Runs guarded calls, each at most once, or once for each attempt of a retry.
extension CircuitBreaker {
    /// Runs `operation` on the caller's actor; neither the operation nor its value need be Sendable.
    ///
    /// Throws the operation's own error, or `CircuitOpenError` if the operation did not run, or `CallTimeoutError` if
    /// it took longer than the policy's timeout. No thread waits for a commit: the task is suspended meanwhile. An
    /// answer that is not kept is read from the file on the calling thread.
    /// - Parameter operation: the call to guard.
    @inlinable
    public func run<T>(_ operation: () async throws -> T) async throws -> T {
        // Inlined into the caller, where T is known: a generic function would cost three times as much. Most calls end
        // here: their answer is kept, and a success reports nothing.
        guard let leave = try self.leaveByKeptAnswer() else { return try await self.runAsking(operation) }
        let value: T
        do {
            value = try await operation()
        } catch {
            await self.reportFailure(error, leave)
            throw error
        }
        if !leave.isMeasured {
            self.countSuccess(leave)
        } else if !self.countUnlessSlow(leave) {
            await self.reportSlow(leave)
        }
        return value
    }

    /// Counts a successful call: one addition to private memory.
    ///
    /// A call of a circuit that was forgotten meanwhile is not counted.
    @usableFromInline
    func countSuccess(_ leave: Leave) { self.circuit.counts.lanes.add(.succeeded, epoch: leave.epoch) }

    /// Counts a successful, measured call unless it was slow: three additions to private memory.
    ///
    /// - Returns: false if the call was slow.
    @usableFromInline
    func countUnlessSlow(_ leave: Leave) -> Bool {
        let duration = self.uptime.subtractingSaturating(leave.began)
        if self.circuit.counts.isSlow(duration) { return false }
        self.circuit.counts.durations.add(duration)
        self.countSuccess(leave)
        return true
    }

    @usableFromInline
    func reportSlow(_ leave: Leave) async {
        await self.report(Ending.success.taking(self.duration(of: leave)), of: leave)
    }

    @usableFromInline
    func reportFailure(_ error: any Error, _ leave: Leave) async {
        await self.report(self.ending(error).taking(self.duration(of: leave)), of: leave)
    }

    /// Makes a call for which the kept answer is not enough: looks at the file, claims a probe's slot or follows the
    /// policy.
    @inlinable
    func runAsking<T>(_ operation: () async throws -> T) async throws -> T {
        var value: T?
        try await self.runAskingWithoutValue { value = try await operation() }
        // An operation that has returned has set the value.
        guard let value else { throw CancellationError() }
        return value
    }

    @usableFromInline
    func runAskingWithoutValue(_ operation: () async throws -> Void) async throws {
        try await self.lastAttempt(of: operation, judged: { .success }).get(())
    }

    /// Runs `operation` as the plain form does; a value for which `isFailure` is true counts as a failure.
    ///
    /// Throws as the plain form does; the value is returned either way. Only the name of a failing value's type is
    /// stored; with `failure`, the policy's `describe` makes the text.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - isFailure: judges a returned value.
    public func run<T>(_ operation: () async throws -> T, failingWhen isFailure: (T) -> Bool) async throws -> T {
        try await self.call(operation) { self.ending(of: $0, failingWhen: isFailure) }
    }

    /// Runs `operation` as the plain form does; a value for which `failure` gives an error counts as that error.
    ///
    /// The policy judges and describes the error as if the operation had thrown it. The value is returned all the same.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - failure: the error that a value stands for; nil for a good value.
    public func run<T>(_ operation: () async throws -> T, failure: (T) -> (any Error)?) async throws -> T {
        try await self.call(operation) { self.ending(of: $0, failure) }
    }

    /// Runs `operation` as the plain form does; a value for which `failure` gives an error counts as that error.
    ///
    /// `fallback` replaces such a value, a refusal, a failure and a time-out. Throws as the other forms with a fallback
    /// do.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - failure: the error that a value stands for; nil for a good value.
    ///   - fallback: makes a value from the error.
    public func run<T>(
        _ operation: () async throws -> T,
        failure: (T) -> (any Error)?,
        fallback: (any Error) async throws -> T
    ) async throws -> T {
        let (attempt, value) = await self.attempts(operation) { self.ending(of: $0, failure) }
        guard let error = attempt.errorForFallback else { return try attempt.get(value) }
        return try await fallback(error)
    }

    /// Runs `operation` as the plain form does, and `fallback` when it was refused, failed or timed out.
    ///
    /// `fallback` also gets a refusal by another circuit, which the operation has thrown. Any other error that the
    /// policy ignores, and any error once the caller's task is cancelled, is thrown without the fallback. Throws what
    /// `fallback` throws; the circuit learns nothing of `fallback`.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - fallback: makes a value from the error.
    public func run<T>(
        _ operation: () async throws -> T,
        fallback: (any Error) async throws -> T
    ) async throws -> T {
        let (attempt, value) = await self.attempts(operation) { _ in .success }
        guard let error = attempt.errorForFallback else { return try attempt.get(value) }
        return try await fallback(error)
    }

    /// Runs `operation` as the form with an asynchronous fallback does.
    ///
    /// Without this form, asynchronous code whose operation and fallback happen to be synchronous would get the
    /// blocking form.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - fallback: makes a value from the error.
    public func run<T>(
        _ operation: () async throws -> T,
        fallback: (any Error) throws -> T
    ) async throws -> T {
        let (attempt, value) = await self.attempts(operation) { _ in .success }
        guard let error = attempt.errorForFallback else { return try attempt.get(value) }
        return try fallback(error)
    }

    /// Runs `operation` on the calling thread; the compiler chooses this form in synchronous code.
    ///
    /// To the compiler the top level of `main.swift` is synchronous code, too, as long as neither `operation` nor a
    /// fallback awaits anything.
    ///
    /// Throws the operation's own error, or `CircuitOpenError` if the operation did not run. The calling thread commits
    /// reports, and waits for each commit at most for `busyTimeout`. The policy's timeout is for async calls.
    /// - Parameter operation: the call to guard.
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T) throws -> T { try self.call(operation) { _ in .success } }

    /// Runs `operation` as the plain synchronous form does; a value for which `isFailure` is true counts as a failure.
    ///
    /// Throws as that form does; the value is returned either way. Only the name of a failing value's type is stored;
    /// with `failure`, the policy's `describe` makes the text.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - isFailure: judges a returned value.
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T, failingWhen isFailure: (T) -> Bool) throws -> T {
        try self.call(operation) { self.ending(of: $0, failingWhen: isFailure) }
    }

    /// Runs `operation` as the plain synchronous form does; a value for which `failure` gives an error counts as that
    /// error, and is returned all the same.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - failure: the error that a value stands for; nil for a good value.
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T, failure: (T) -> (any Error)?) throws -> T {
        try self.call(operation) { self.ending(of: $0, failure) }
    }

    /// Runs `operation` as the plain synchronous form does, and `fallback` when it was refused or failed.
    ///
    /// `fallback` also gets a refusal by another circuit, which the operation has thrown. Any other error that the
    /// policy ignores, and any error once the caller's task is cancelled, is thrown without the fallback.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - fallback: makes a value from the error.
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T, fallback: (any Error) throws -> T) throws -> T {
        let (attempt, value) = self.attempts(operation) { _ in .success }
        guard let error = attempt.errorForFallback else { return try attempt.get(value) }
        return try fallback(error)
    }
}
