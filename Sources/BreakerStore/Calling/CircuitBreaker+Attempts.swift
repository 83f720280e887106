/// Makes calls with metrics, retries or a timeout; each attempt is one call to the circuit.
extension CircuitBreaker {
    /// Makes a call with as many attempts as the policy allows; returns the last attempt that ran, or the refusal if
    /// none ran.
    ///
    /// - Parameters:
    ///   - operation: makes the call, and keeps its value.
    ///   - judgement: judges the value that the operation has kept.
    @usableFromInline
    func lastAttempt(
        of operation: () async throws -> Void, judged judgement: () -> Ending
    ) async -> Attempt {
        var last: Attempt?
        var attempts = 0
        while true {
            let attempt = await self.attempt(operation, judgement)
            attempts += 1
            guard let delay = self.delay(after: attempt, attempts) else { return Self.conclude(attempt, after: last) }
            last = attempt
            do {
                try await self.core.clock.host.sleep(for: delay)
            } catch {
                return attempt
            }
        }
    }

    @usableFromInline
    func lastAttempt(of operation: () throws -> Void, judged judgement: () -> Ending) -> Attempt {
        var last: Attempt?
        var attempts = 0
        while true {
            let attempt = self.attempt(operation, judgement)
            attempts += 1
            guard let delay = self.delay(after: attempt, attempts) else { return Self.conclude(attempt, after: last) }
            last = attempt
            self.core.clock.block(for: delay)
        }
    }

    private func attempt(_ operation: () async throws -> Void, _ judgement: () -> Ending) async -> Attempt {
        let leave: Leave
        do throws(CircuitOpenError) {
            leave = try await self.letThrough()
        } catch {
            return self.reportRefusal(error)
        }
        let watch = self.newStopwatch()
        var attempt = Attempt()
        do {
            if let timeout = self.policy.timeout {
                attempt = try await self.attempt(operation, within: timeout, leave)
            } else {
                try await operation()
            }
        } catch {
            attempt.error = error
        }
        let (duration, took) = (self.elapsed(since: watch), self.duration(of: leave))
        // A time-out was reported at the deadline.
        if attempt.ending == nil {
            let ending = (attempt.error.map(self.ending) ?? judgement()).taking(took)
            attempt.ending = ending
            await self.report(ending, of: leave)
        }
        self.reportOutcome(attempt.result, duration)
        return attempt
    }

    private func attempt(_ operation: () throws -> Void, _ judgement: () -> Ending) -> Attempt {
        let leave: Leave
        do throws(CircuitOpenError) {
            leave = try self.letThrough()
        } catch {
            return self.reportRefusal(error)
        }
        let watch = self.newStopwatch()
        var attempt = Attempt()
        do {
            try operation()
        } catch {
            attempt.error = error
        }
        let (duration, took) = (self.elapsed(since: watch), self.duration(of: leave))
        let ending = (attempt.error.map(self.ending) ?? judgement()).taking(took)
        attempt.ending = ending
        self.report(ending, of: leave)
        self.reportOutcome(attempt.result, duration)
        return attempt
    }

    private func reportRefusal(_ error: CircuitOpenError) -> Attempt {
        self.reportOutcome(.refused, .zero)
        return Attempt(error: error)
    }

    /// Makes one attempt with a timeout: at the deadline reports the failure, then cancels the operation and waits for
    /// it.
    ///
    /// - Returns: the attempt, without an ending if the operation has ended in time.
    private func attempt(
        _ operation: () async throws -> Void, within timeout: Duration, _ leave: Leave
    ) async throws -> Attempt {
        let timeout = self.timeout(timeout, of: leave)
        let error = CallTimeoutError(name: self.name, timeout: timeout)
        // A time-out is a failure whatever `classify` would say: the library itself cancels the operation.
        let ending = Ending(verdict: .failure, error: error, duration: timeout.saturatingMicroseconds)
        func onDeadline() async { await self.report(ending, of: leave) }
        let isInTime: Bool
        if let timer = self.core.timer {
            isInTime = try await TimedCall.run(operation, within: timeout, by: timer, onDeadline: onDeadline)
        } else {
            let clock = self.core.clock.host
            isInTime = try await TimedCall.run(operation, within: timeout, by: clock, onDeadline: onDeadline)
        }
        return isInTime ? Attempt() : Attempt(ending: ending, error: error)
    }

    /// How long the call may take: a probe must end before its lease does, which another process may have made shorter
    /// than this policy's timeout.
    private func timeout(_ timeout: Duration, of leave: Leave) -> Duration {
        guard leave.isProbe else { return timeout }
        let lease = Duration(wholeMicroseconds: self.circuit.rulesInMemory.lease)
        // Leaves time for the report, which is stale once the lease is over.
        return timeout < lease ? timeout : lease * 9 / 10
    }

    // MARK: - Retries

    /// How long to wait before the next attempt; nil if there is none.
    ///
    /// A call does not wait for a circuit that refuses: the operation's error is known already.
    private func delay(after attempt: Attempt, _ attempts: Int) -> Duration? {
        guard let retry = self.policy.retry, attempts <= retry.maxRetries, self.mayTryAgain(attempt),
            self.isCallPermitted
        else { return nil }
        return retry.delay(beforeRetry: attempts, draw: .random(in: 0..<1))
    }

    private func mayTryAgain(_ attempt: Attempt) -> Bool {
        guard !Task.isCancelled, let ending = attempt.ending else { return false }
        guard let retryIf = self.policy.ownRetryIf, let error = ending.error else { return ending.verdict.isFailure }
        return retryIf(error)
    }

    private static func conclude(_ attempt: Attempt, after last: Attempt?) -> Attempt {
        attempt.ending == nil ? last ?? attempt : attempt
    }

    // MARK: - Metrics

    /// The instant at which an operation begins; nil if the policy has no `onOutcome`.
    func newStopwatch() -> ContinuousClock.Instant? { self.policy.onOutcome == nil ? nil : .now }

    func elapsed(since watch: ContinuousClock.Instant?) -> Duration { watch.map { .now - $0 } ?? .zero }

    func reportOutcome(_ result: CallOutcome.Result, _ duration: Duration) {
        guard let onOutcome = self.policy.onOutcome else { return }
        onOutcome(CallOutcome(circuit: self.name, result: result, duration: duration))
    }
}

extension CallOutcome.Result {
    init(_ verdict: Verdict) {
        switch verdict {
        case .success: self = .succeeded
        case .failure, .outage: self = .failed
        case .ignored: self = .ignored
        }
    }
}
