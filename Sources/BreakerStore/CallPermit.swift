import Synchronization

/// The permission to make one call.
///
/// Only the first report of a permit counts. A permit that is deallocated without a report is discarded.
public final class CallPermit: Sendable {
    private let breaker: CircuitBreaker
    private let leave: Leave
    private let began: ContinuousClock.Instant?
    private let isUsed = Atomic<Bool>(false)

    init(_ breaker: CircuitBreaker, _ leave: Leave) {
        self.breaker = breaker
        self.leave = leave
        self.began = breaker.isPlain ? nil : breaker.newStopwatch()
    }

    deinit { if !self.isUsed.load(ordering: .relaxed) { self.discard() } }

    /// Reports that the call succeeded; suspends until the report is committed, if there is anything to commit.
    public func succeed() async { if self.useForSuccess() { await self.report(.success) } }

    /// Reports that the call succeeded; commits on the calling thread.
    @_disfavoredOverload
    public func succeed() { if self.useForSuccess() { self.report(.success, by: self.breaker.report) } }

    /// Reports that the call succeeded, without waiting: the store's thread commits soon, if there is anything to
    /// commit.
    ///
    /// For event loops and callbacks.
    public func succeedLater() {
        if self.useForSuccess() { self.report(.success, by: self.breaker.reportLater) }
    }

    /// Reports that the call failed; suspends until the report is committed.
    ///
    /// The policy's `classify` judges the error; the failure counts even if the calling task is cancelled.
    /// - Parameter error: what went wrong, if known.
    public func fail(_ error: (any Error)? = nil) async {
        if self.use() { await self.report(self.breaker.reportedEnding(error)) }
    }

    /// Reports that the call failed; commits on the calling thread.
    /// - Parameter error: what went wrong, if known.
    @_disfavoredOverload
    public func fail(_ error: (any Error)? = nil) {
        if self.use() { self.report(self.breaker.reportedEnding(error), by: self.breaker.report) }
    }

    /// Reports that the call failed, without waiting: the store's thread commits soon.
    ///
    /// For event loops and callbacks. A report that can't be committed within `busyTimeout` counts in memory, and in
    /// the file as soon as the file can be used again. A process that is killed before the commit loses the report.
    /// - Parameter error: what went wrong, if known.
    public func failLater(_ error: (any Error)? = nil) {
        if self.use() { self.report(self.breaker.reportedEnding(error), by: self.breaker.reportLater) }
    }

    /// Gives the permit back without a verdict: frees a probe's slot; no rule counts the call.
    ///
    /// Returns at once; the store's thread commits.
    public func discard() { if self.use() { self.report(.ignored, by: self.breaker.reportLater) } }

    private func use() -> Bool { !self.isUsed.exchange(true, ordering: .acquiringAndReleasing) }

    /// Uses the permit, and counts the success if that is all there is to do; returns whether it is to be reported.
    private func useForSuccess() -> Bool {
        guard self.use() else { return false }
        // With `onOutcome` each call is reported.
        guard self.began == nil else { return true }
        return !self.breaker.countSuccess(of: self.leave, taking: self.breaker.duration(of: self.leave))
    }

    private func report(_ judged: @autoclosure () -> Ending, by report: (Ending, Leave) -> Void) {
        let duration = self.breaker.elapsed(since: self.began)
        let ending = judged().taking(self.breaker.duration(of: self.leave))
        report(ending, self.leave)
        self.breaker.reportOutcome(CallOutcome.Result(ending.verdict), duration)
    }

    private func report(_ judged: @autoclosure () -> Ending) async {
        let duration = self.breaker.elapsed(since: self.began)
        let ending = judged().taking(self.breaker.duration(of: self.leave))
        await self.breaker.report(ending, of: self.leave)
        self.breaker.reportOutcome(CallOutcome.Result(ending.verdict), duration)
    }
}

extension CircuitBreaker {
    /// Lets one call through, for callback code, and returns the permit to report with.
    ///
    /// Suspends while a probe's slot is claimed.
    public func admit() async throws(CircuitOpenError) -> CallPermit {
        do throws(CircuitOpenError) {
            if let leave = try self.leaveByKeptAnswer() { return CallPermit(self, leave) }
            return CallPermit(self, try await self.letThrough())
        } catch {
            self.reportOutcome(.refused, .zero)
            throw error
        }
    }

    /// Lets one call through, for callback code; claims a probe's slot on the calling thread.
    @_disfavoredOverload
    public func admit() throws(CircuitOpenError) -> CallPermit {
        do throws(CircuitOpenError) {
            if let leave = try self.leaveByKeptAnswer() { return CallPermit(self, leave) }
            return CallPermit(self, try self.letThrough())
        } catch {
            self.reportOutcome(.refused, .zero)
            throw error
        }
    }
}
