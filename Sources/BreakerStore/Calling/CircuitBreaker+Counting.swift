/// Counts failed and slow calls on the board, for totals and for failure-rate rules.
extension CircuitBreaker {
    /// Counts a call; returns the rate that this call reached.
    ///
    /// Blocks for as long as the file system does.
    private func sum(_ call: CountedFailure, _ counting: PendingOutcome.Counting) -> Circuit.ReachedShare? {
        switch counting {
        case .total:
            _ = self.core.count(call, of: self.circuit, .none)
            return nil
        case .decisive(let epoch):
            // The call may have waited so long for the thread that counts that the circuit has tripped and recovered.
            guard self.lookWhetherPresent(epoch) else { return self.sum(call, .total) }
            // Commits of other processes may have kept the counts from taking over the answer of the look.
            for _ in 0..<3 where self.circuit.counts.epoch != epoch { self.look() }
            let counted = self.core.count(call, of: self.circuit, .file(epoch: epoch)) {
                self.validAnswer?.epoch == epoch
            }
            return self.share(counted)
        case .inMemory(let epoch):
            return self.share(self.core.count(call, of: self.circuit, .memory(epoch: epoch)))
        }
    }

    private func share(_ counted: Circuit.WindowCounts) -> Circuit.ReachedShare? {
        (self.circuit.lastRead?.rules ?? Rules(self.circuit.registeredConfig)).share(reachedBy: counted)
    }

    /// Counts a call; if a rate is reached, asks the other processes to publish, unless this one is alone.
    ///
    /// Blocks for as long as the file system does. Runs no code of the user: it may run on a thread that commits.
    ///
    /// - Returns: the rate by which the caller must trip the circuit at once.
    func count(_ pending: PendingOutcome) -> Circuit.ReachedShare? {
        guard let (call, counting) = pending.failure else { return nil }
        let share = self.sum(call, counting)
        guard case .decisive(let epoch) = counting else { return share }
        let error = pending.error
        if let error { self.circuit.counts.noteOnBoard(error.text, at: error.uptime) }
        guard let share, !self.core.askUnlessAlone(self.circuit, epoch: epoch, error: error?.text) else { return nil }
        return share
    }

    /// The text of a failure, if it is time that the board gets one.
    func errorText(of pending: PendingOutcome) -> PendingOutcome.ErrorText? {
        guard case .decisive = pending.failure?.counting, pending.outcome.verdict.isFailure else { return nil }
        let uptime = self.core.clock.uptime
        guard self.circuit.counts.isTextDue(at: uptime), let text = self.text(of: pending.outcome) else { return nil }
        return PendingOutcome.ErrorText(text: text, uptime: uptime)
    }

    /// Counts on a thread that may wait, so that no task waits for the file system.
    ///
    /// The caller's thread counts a call whose report was just committed, if no rule decides by it: the file system has
    /// just worked.
    ///
    /// - Parameter late: called on that thread with the rate, if the deadline comes first; then nil is returned.
    func count(
        _ pending: PendingOutcome, late: @escaping @Sendable (Circuit.ReachedShare?) -> Void
    ) async -> Circuit.ReachedShare? {
        if pending.failure?.counting == .total, pending.isCommitted, self.core.hasBoard(for: self.circuit) {
            return self.count(pending)
        }
        return await self.core.countingJobs.value(
            until: self.store.deadline, by: self.core.sharedTimer.value, late: late, { self.count(pending) }) ?? nil
    }

    /// Opens the circuit in memory, because its calls have reached the rate, or the trip could not be committed.
    func tripMemory(_ share: Circuit.ReachedShare, _ pending: PendingOutcome) {
        let epoch: Int64? = if case .inMemory(let epoch) = pending.failure?.counting { epoch } else { nil }
        self.circuit.shareReachedInMemory(
            by: Circuit.WindowCounts(share), error: self.text(of: pending.outcome), at: self.core.clock.now,
            offset: self.core.clock.offset, epoch: epoch)
    }
}

extension Circuit.WindowCounts {
    fileprivate init(_ share: Circuit.ReachedShare) {
        switch share {
        case .failed(let calls): self.init(failed: calls)
        case .slow(let calls): self.init(slow: calls)
        }
    }
}
