/// Makes calls with metrics, retries or a timeout; each attempt is one call to the circuit.
extension CircuitBreaker {
    /// How one attempt went.
    private enum Attempt<T> {
        case returned(T, Verdict)
        case threw(any Error, Verdict)
        case refused(CircuitOpenError)
    }

    func runByPolicy<T>(
        _ operation: () async throws -> T,
        failingWhen isFailure: (T) -> Bool
    ) async throws -> T {
        var last: Attempt<T>?
        var attempts = 0
        while true {
            let attempt = await self.attempt(operation, failingWhen: isFailure)
            attempts += 1
            guard let delay = self.delay(after: attempt, attempts) else {
                return try Self.conclude(attempt, after: last)
            }
            last = attempt
            do {
                try await Task.sleep(for: delay)
            } catch {
                return try Self.conclude(attempt, after: nil)
            }
        }
    }

    func runByPolicy<T>(_ operation: () throws -> T, failingWhen isFailure: (T) -> Bool) throws -> T {
        var last: Attempt<T>?
        var attempts = 0
        while true {
            let attempt = self.attempt(operation, failingWhen: isFailure)
            attempts += 1
            guard let delay = self.delay(after: attempt, attempts) else {
                return try Self.conclude(attempt, after: last)
            }
            last = attempt
            Deadline(after: delay).sleep()
        }
    }

    private func attempt<T>(
        _ operation: () async throws -> T,
        failingWhen isFailure: (T) -> Bool
    ) async -> Attempt<T> {
        let watch = self.newStopwatch()
        let admitted: Admitted
        do throws(CircuitOpenError) {
            admitted = try await self.admitted()
        } catch {
            self.tell(.refused, watch)
            return .refused(error)
        }
        let attempt: Attempt<T>
        do {
            if let timeout = self.policy.timeout {
                attempt = try await self.attempt(operation, failingWhen: isFailure, within: timeout, admitted)
            } else {
                let value = try await operation()
                let ending = self.ending(value, failingWhen: isFailure)
                attempt = .returned(value, ending.verdict)
                await self.report(ending, of: admitted)
            }
        } catch {
            let ending = self.ending(error)
            attempt = .threw(error, ending.verdict)
            await self.report(ending, of: admitted)
        }
        self.tell(attempt, watch)
        return attempt
    }

    /// One attempt with a timeout: at its deadline the failure is reported at once, then the operation is cancelled and
    /// waited for.
    private func attempt<T>(
        _ operation: () async throws -> T,
        failingWhen isFailure: (T) -> Bool,
        within timeout: Duration,
        _ admitted: Admitted
    ) async throws -> Attempt<T> {
        let error = CallTimeoutError(name: self.name, timeout: timeout)
        let timeoutEnding = Ending(verdict: .failure, error: self.text(of: error))
        let value = try await TimedCall.run(operation, within: timeout) {
            await self.report(timeoutEnding, of: admitted)
        }
        guard let value else { return .threw(error, .failure) }
        let ending = self.ending(value, failingWhen: isFailure)
        await self.report(ending, of: admitted)
        return .returned(value, ending.verdict)
    }

    private func attempt<T>(_ operation: () throws -> T, failingWhen isFailure: (T) -> Bool) -> Attempt<T> {
        let watch = self.newStopwatch()
        let admitted: Admitted
        do throws(CircuitOpenError) {
            admitted = try self.admitted()
        } catch {
            self.tell(.refused, watch)
            return .refused(error)
        }
        let attempt: Attempt<T>
        let ending: Ending
        do {
            let value = try operation()
            ending = self.ending(value, failingWhen: isFailure)
            attempt = .returned(value, ending.verdict)
        } catch {
            ending = self.ending(error)
            attempt = .threw(error, ending.verdict)
        }
        self.report(ending, of: admitted)
        self.tell(attempt, watch)
        return attempt
    }

    private func ending<T>(_ value: T, failingWhen isFailure: (T) -> Bool) -> Ending {
        isFailure(value)
            ? Ending(verdict: .failure, error: "a value that counts as a failure") : Ending(verdict: .success)
    }

    // MARK: - Retries

    /// How long to wait before the next attempt; nil if there is none.
    ///
    /// A call does not wait for a circuit that refuses: the operation's error is known already.
    private func delay<T>(after attempt: Attempt<T>, _ attempts: Int) -> Duration? {
        guard let retry = self.policy.retry, attempts <= retry.maxRetries else { return nil }
        switch attempt {
        case .returned(_, .failure), .threw(_, .failure):
            guard self.isCallPermitted else { return nil }
            return retry.delay(beforeRetry: attempts, draw: .random(in: 0..<1))
        case .returned, .threw, .refused:
            return nil
        }
    }

    /// What the caller gets: the result of the last attempt that ran, or the refusal if none ran.
    private static func conclude<T>(_ attempt: Attempt<T>, after last: Attempt<T>?) throws -> T {
        switch attempt {
        case .returned(let value, _): return value
        case .threw(let error, _): throw error
        case .refused(let refusal):
            guard let last else { throw refusal }
            return try Self.conclude(last, after: nil)
        }
    }

    // MARK: - Metrics

    /// When an attempt began; nil if the policy has no `onOutcome`.
    func newStopwatch() -> ContinuousClock.Instant? { self.policy.onOutcome == nil ? nil : .now }

    func tell(_ result: CallOutcome.Result, _ watch: ContinuousClock.Instant?) {
        guard let onOutcome = self.policy.onOutcome, let watch else { return }
        onOutcome(CallOutcome(circuit: self.name, result: result, duration: .now - watch))
    }

    private func tell<T>(_ attempt: Attempt<T>, _ watch: ContinuousClock.Instant?) {
        switch attempt {
        case .returned(_, let verdict), .threw(_, let verdict): self.tell(CallOutcome.Result(verdict), watch)
        case .refused: self.tell(.refused, watch)
        }
    }
}

extension CallOutcome.Result {
    init(_ verdict: Verdict) {
        switch verdict {
        case .success: self = .succeeded
        case .failure: self = .failed
        case .ignored: self = .ignored
        }
    }
}
