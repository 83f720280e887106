/// Counts failed and slow calls on the board, for totals and for failure-rate rules.
extension CircuitBreaker {
    /// Counts a call, and sums the windows; returns the rate that is reached with this call.
    ///
    /// Blocks for as long as the file system does.
    private func countAndCheck(_ call: CountedFailure, _ counting: PendingOutcome.Counting) -> Circuit.ReachedRate? {
        switch counting {
        case .total:
            _ = self.core.count(call, of: self.circuit, decidedBy: .none)
            return nil
        case .decisive(let epoch):
            // The call may have waited so long for the counting thread that the circuit has tripped and recovered.
            guard self.refreshAndCheckEpoch(epoch) else { return self.countAndCheck(call, .total) }
            // `SharedCircuit.update` rejects a reading if another process has committed since. If it rejects three, the
            // counts are still in another epoch, and `CircuitCounts.count` adds the call to the totals only.
            for _ in 0..<3 where self.circuit.counts.epoch != epoch { self.readDecision() }
            let counted = self.core.count(
                call, of: self.circuit, decidedBy: .file(epoch: epoch),
                isCurrent: { self.validDecision?.epoch == epoch })
            return self.rate(reachedBy: counted)
        case .inMemory(let epoch):
            return self.rate(
                reachedBy: self.core.count(call, of: self.circuit, decidedBy: .fallback(epoch: epoch)))
        }
    }

    private func rate(reachedBy counted: Circuit.WindowCounts) -> Circuit.ReachedRate? {
        (self.circuit.lastRead?.rules ?? Rules(self.circuit.registeredConfig)).rate(reachedBy: counted)
    }

    /// Counts a call; if a rate is reached and other processes use the circuit, starts a rate check.
    ///
    /// Blocks for as long as the file system does. Runs no code of the user: it may run on a thread that commits.
    ///
    /// - Returns: the rate by which the caller must trip the circuit at once; nil if none is reached, or a check
    ///   decides.
    func count(_ pending: PendingOutcome) -> Circuit.ReachedRate? {
        guard let (call, counting) = pending.failure else { return nil }
        let reached = self.countAndCheck(call, counting)
        guard case .decisive(let epoch) = counting else { return reached }
        let error = pending.error
        if let error { self.circuit.counts.publishError(error.text, at: error.uptime) }
        guard let reached, !self.core.startRateCheckUnlessAlone(self.circuit, epoch: epoch, error: error?.text)
        else { return nil }
        return reached
    }

    /// The text of a failure, if the board is due to get one.
    func errorText(of pending: PendingOutcome) -> PendingOutcome.ErrorText? {
        guard case .decisive = pending.failure?.counting, pending.outcome.verdict.isFailure else { return nil }
        let uptime = self.core.clock.uptime
        guard self.circuit.counts.isTextDue(at: uptime), let text = self.text(of: pending.outcome) else { return nil }
        return PendingOutcome.ErrorText(text: text, uptime: uptime)
    }

    /// Counts on a thread that may block, so that no task waits for the file system.
    ///
    /// A call whose report was just committed, and by which no rule decides, is counted on the caller's thread: the
    /// commit shows that the file system works.
    ///
    /// - Parameter late: called on that thread with the rate, if the deadline is over first; then nil is returned.
    func count(
        _ pending: PendingOutcome, late: @escaping @Sendable (Circuit.ReachedRate?) -> Void
    ) async -> Circuit.ReachedRate? {
        if pending.failure?.counting == .total, pending.isCommitted, self.core.hasBoard(for: self.circuit) {
            return self.count(pending)
        }
        return await self.core.countingJobs.value(
            until: self.store.deadline, by: self.core.sharedTimer.value, late: late, { self.count(pending) }) ?? nil
    }

    /// Trips the in-memory fallback, because its calls have reached the rate, or the trip could not be committed.
    func tripFallback(_ reached: Circuit.ReachedRate, _ pending: PendingOutcome) {
        let epoch: Epoch? = if case .inMemory(let epoch) = pending.failure?.counting { epoch } else { nil }
        self.circuit.reachedRateInMemory(
            by: Circuit.WindowCounts(reached), error: self.text(of: pending.outcome), at: self.core.clock.now,
            offset: self.core.clock.offset, epoch: epoch)
    }
}

extension Circuit.WindowCounts {
    fileprivate init(_ reached: Circuit.ReachedRate) {
        switch reached {
        case .failed(let calls): self.init(failed: calls)
        case .slow(let calls): self.init(slow: calls)
        }
    }
}
