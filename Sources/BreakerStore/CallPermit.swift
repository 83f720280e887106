import Synchronization

/// The permission to make one call, for code that learns the outcome in a callback.
///
/// ``CircuitBreaker/admit()-9bf4f`` returns a permit, or throws ``CircuitOpenError``. The code then makes its call, and
/// reports the outcome with the permit:
///
/// ```swift
/// let permit = try await users.admit()
/// api.fetch { result in
///     switch result {
///     case .success: permit.succeedLater()
///     case .failure(let error): permit.failLater(error)
///     }
/// }
/// ```
///
/// Only the first report of a permit counts. A permit that is deallocated without a report is discarded.
public final class CallPermit: Sendable {
    let breaker: CircuitBreaker
    let admission: Admission
    private let began: ContinuousClock.Instant?
    private let isUsed = Atomic<Bool>(false)

    init(_ breaker: CircuitBreaker, _ admission: Admission) {
        self.breaker = breaker
        self.admission = admission
        self.began = breaker.isPlain ? nil : breaker.newStopwatch()
    }

    deinit { if !self.isUsed.load(ordering: .relaxed) { self.discard() } }

    /// Reports that the call succeeded; suspends until the report is committed, if there is anything to commit.
    public func succeed() async { if self.useForSuccess() { await self.report(.success) } }

    /// Reports that the call succeeded; commits on the calling thread.
    @_disfavoredOverload
    public func succeed() { if self.useForSuccess() { self.report(.success) } }

    /// Reports that the call succeeded, without waiting: the store's thread commits soon, if there is anything to
    /// commit.
    ///
    /// For event loops and callbacks.
    public func succeedLater() {
        if self.useForSuccess() { self.reportLater(.success) }
    }

    /// Reports that the call failed; suspends until the report is committed.
    ///
    /// The policy's `classify` judges the error; the failure counts even if the calling task is cancelled.
    /// - Parameter error: what went wrong, if known.
    public func fail(_ error: (any Error)? = nil) async {
        if self.use() { await self.report(self.breaker.reportedOutcome(error)) }
    }

    /// Reports that the call failed; commits on the calling thread.
    /// - Parameter error: what went wrong, if known.
    @_disfavoredOverload
    public func fail(_ error: (any Error)? = nil) {
        if self.use() { self.report(self.breaker.reportedOutcome(error)) }
    }

    /// Reports that the call failed, without waiting: the store's thread commits soon.
    ///
    /// For event loops and callbacks. A report that can't be committed within `busyTimeout` counts in memory, and in
    /// the file as soon as the file can be used again. A process that is killed before the commit loses the report.
    /// - Parameter error: what went wrong, if known.
    public func failLater(_ error: (any Error)? = nil) {
        if self.use() { self.reportLater(self.breaker.reportedOutcome(error)) }
    }

    /// Reports an outcome that needs no policy to judge it; commits on the calling thread.
    ///
    /// - Parameter error: the text to store for a failure.
    package func report(_ verdict: Verdict, error: String) {
        if self.use() { self.report(Outcome(verdict: verdict, text: StoredText.cut(error))) }
    }

    /// Gives the permit back without a verdict: frees a probe's slot; no rule counts the call.
    ///
    /// Returns at once; the store's thread commits.
    public func discard() { if self.use() { self.reportLater(.ignored) } }

    private func use() -> Bool { !self.isUsed.exchange(true, ordering: .acquiringAndReleasing) }

    /// Uses the permit, and counts the success if that is all there is to do; returns whether it is to be reported.
    private func useForSuccess() -> Bool {
        guard self.use() else { return false }
        // With `onOutcome` each call is reported.
        guard self.began == nil else { return true }
        return !self.breaker.countSuccess(of: self.admission, taking: self.breaker.duration(of: self.admission))
    }

    private func report(_ outcome: @autoclosure () -> Outcome) {
        var call = Call(.permit, admittedBy: self.admission)
        _ = self.breaker.advance(&call, self.ended(outcome()))
    }

    private func report(_ outcome: @autoclosure () -> Outcome) async {
        var call = Call(.permit, admittedBy: self.admission)
        _ = await self.breaker.advance(&call, self.ended(outcome()))
    }

    private func reportLater(_ outcome: @autoclosure () -> Outcome) {
        let elapsed = self.breaker.elapsed(since: self.began)
        let outcome = outcome().taking(self.breaker.duration(of: self.admission))
        self.breaker.reportLater(outcome, of: self.admission)
        // Here, and not by the thread that goes on with the report: `onOutcome` runs on the caller's thread.
        self.breaker.publish(CallOutcome.Result(outcome.verdict), elapsed)
    }

    /// - Parameter outcome: made after the call's time was taken, because the policy judges errors.
    private func ended(_ outcome: @autoclosure () -> Outcome) -> Call.Input {
        let elapsed = self.breaker.elapsed(since: self.began)
        let took = self.breaker.duration(of: self.admission)
        return self.breaker.ended(outcome().taking(took), elapsed: elapsed)
    }
}

extension CircuitBreaker {
    /// Lets one call through, for callback code, and returns the permit to report with.
    ///
    /// Suspends while a probe's slot is claimed.
    public func admit() async throws(CircuitOpenError) -> CallPermit {
        if let admission = try self.admitByCachedDecision() { return CallPermit(self, admission) }
        var call = Call(.permit)
        return CallPermit(self, try self.admission(by: await self.advance(&call, nil)))
    }

    /// Lets one call through, for callback code; claims a probe's slot on the calling thread.
    @_disfavoredOverload
    public func admit() throws(CircuitOpenError) -> CallPermit {
        if let admission = try self.admitByCachedDecision() { return CallPermit(self, admission) }
        var call = Call(.permit)
        return CallPermit(self, try self.admission(by: self.advance(&call, nil)))
    }

    /// The admission of a call that asked for a permit; throws the circuit's refusal.
    func admission(by step: Call.UserStep) throws(CircuitOpenError) -> Admission {
        switch step {
        case .done(.admitted(let admission)): return admission
        case .done(.error(let error)): throw error as? CircuitOpenError ?? self.makeRefusal(.open, nil)
        // A call that asks for a permit ends in one of the two ways above.
        case .done(.value), .run, .awaitOperation, .sleep, .replace: return Admission(.uncounted)
        }
    }
}
