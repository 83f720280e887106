/// Guarded calls. Each runs its operation at most once, or once for each attempt of a retry, on the caller's actor.
extension CircuitBreaker {
    /// Runs `operation` on the caller's actor, neither it nor its value need be Sendable.
    ///
    /// Throws the operation's own error, or `CircuitOpenError` when it did not run, or `CallTimeoutError` when it took
    /// longer than the policy's timeout. No thread waits for a commit: probes and reports do so suspended. An answer
    /// that is not known yet is read from the file on the calling thread.
    /// - Parameter operation: the call to guard.
    @inlinable
    public func run<T>(_ operation: () async throws -> T) async throws -> T {
        // Inlined into the caller, where T is known: a generic function would cost three times as much. Most calls come
        // no further: the answer is kept, and a success has nothing to tell.
        guard let epoch = try self.freePass() else { return try await self.runAsking(operation) }
        do {
            return try await operation()
        } catch {
            await self.reportFailure(error, epoch)
            throw error
        }
    }

    @usableFromInline
    func reportFailure(_ error: any Error, _ epoch: Int64) async {
        let ending = self.ending(error)
        if case .failure = ending.verdict { await self.commit(.failed(self.newReport(epoch, ending.error))) }
    }

    /// Asks the file, claims a probe or follows the policy, as need be.
    @usableFromInline
    func runAsking<T>(_ operation: () async throws -> T) async throws -> T {
        guard self.isPlain else { return try await self.runByPolicy(operation) { _ in false } }
        let admitted = try await self.admitted()
        let value: T
        do {
            value = try await operation()
        } catch {
            await self.report(self.ending(error), of: admitted)
            throw error
        }
        if admitted.reportsSuccess { await self.report(Ending(verdict: .success), of: admitted) }
        return value
    }

    /// Runs `operation` as the plain form does, and counts a value that `isFailure` says so of as a failure.
    ///
    /// Throws as the plain form does; the value is returned either way.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - isFailure: judges a value that was returned.
    public func run<T>(_ operation: () async throws -> T, failingWhen isFailure: (T) -> Bool) async throws -> T {
        try await self.runByPolicy(operation, failingWhen: isFailure)
    }

    /// Runs `operation` as the plain form does, and `fallback` when that throws: refused, failed or timed out.
    ///
    /// A cancellation is thrown as it is. Throws what `fallback` throws; what it does is not reported to the circuit.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - fallback: makes a value of the error.
    public func run<T>(
        _ operation: () async throws -> T,
        fallback: (any Error) async throws -> T
    ) async throws -> T {
        do {
            return try await self.run(operation)
        } catch let error as CancellationError {
            throw error
        } catch {
            return try await fallback(error)
        }
    }

    /// Runs `operation` on the calling thread; chosen in synchronous code alone.
    ///
    /// Throws the operation's own error, or `CircuitOpenError` when it did not run. Reports are committed on the
    /// calling thread, which waits at most for `busyTimeout`. The policy's timeout is for async calls.
    /// - Parameter operation: the call to guard.
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T) throws -> T {
        guard self.isPlain else { return try self.runByPolicy(operation) { _ in false } }
        let admitted: Admitted = try self.admitted()
        let value: T
        do {
            value = try operation()
        } catch {
            self.report(self.ending(error), of: admitted)
            throw error
        }
        if admitted.reportsSuccess { self.report(Ending(verdict: .success), of: admitted) }
        return value
    }

    /// Runs `operation` as the plain synchronous form does, and counts a value that `isFailure` says so of as a
    /// failure.
    ///
    /// Throws as that form does; the value is returned either way.
    /// - Parameters:
    ///   - operation: the call to guard.
    ///   - isFailure: judges a value that was returned.
    @_disfavoredOverload
    public func run<T>(_ operation: () throws -> T, failingWhen isFailure: (T) -> Bool) throws -> T {
        try self.runByPolicy(operation, failingWhen: isFailure)
    }
}

extension Admitted {
    /// Whether a success has anything to tell.
    var reportsSuccess: Bool {
        switch self {
        case .counted(epoch: _, let reportsSuccess): reportsSuccess
        case .uncounted: false
        case .probe, .inMemory: true
        }
    }
}
