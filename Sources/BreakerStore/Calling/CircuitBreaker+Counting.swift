/// Counts how calls end, for totals and for rules about shares of the calls.
extension CircuitBreaker {
    // MARK: - Durations

    /// How many microseconds the operation took, which has just ended; nil if the call is not measured.
    @usableFromInline
    func duration(of leave: Leave) -> Int64? {
        leave.isMeasured ? max(0, self.uptime.subtractingSaturating(leave.began)) : nil
    }

    func wasSlow(_ ending: Ending) -> Bool {
        guard let duration = ending.duration, ending.verdict != .ignored else { return false }
        return self.circuit.counts.isSlow(duration)
    }

    // MARK: - Counting

    /// Counts a call's duration, and a good or ignored end, in private memory; returns how a bad end is to be counted.
    func countInLanes(_ ending: Ending, of leave: Leave) -> CallEnd.Count {
        let counts = self.circuit.counts
        let isOfFile = leave.source == .closed || leave.source == .closedConsecutive
        if isOfFile, counts.isFormer(epoch: leave.epoch) { return .done }
        if let duration = ending.duration, ending.verdict != .ignored { counts.durations.add(duration) }
        let end = BadEnd(isFailed: ending.verdict.isFailure, isSlow: self.wasSlow(ending))
        guard end.isFailed || end.isSlow else {
            let good: LaneCounts.Word = leave.isInWindow ? .succeeded : .aside
            counts.lanes.add(ending.verdict == .ignored ? .ignored : good)
            return .done
        }
        switch leave.source {
        case .uncounted, .probe, .probeInMemory: return .total(end)
        case .closedInMemory: return .inMemory(end, epoch: leave.epoch)
        case .closed, .closedConsecutive: break
        }
        guard counts.shortestWindow != nil else { return .total(end) }
        if self.lookWhetherPresent(leave.epoch) { return .decisive(end, epoch: leave.epoch) }
        // Asked after `lookWhetherPresent`: only its look shows whether the file has another circuit of this name.
        return counts.isFormer(epoch: leave.epoch) ? .done : .total(end)
    }

    /// Whether the circuit is still in the epoch in which a call was let through, as far as a look shows.
    private func lookWhetherPresent(_ epoch: Int64) -> Bool {
        guard let answer = self.lookIfNeeded() else { return self.mayUseFile }
        return answer.epoch == epoch
    }

    /// Counts a bad end; returns the share that this end reached.
    ///
    /// Blocks for as long as the file system does.
    func count(_ count: CallEnd.Count) -> Circuit.ReachedShare? {
        switch count {
        case .done: return nil
        case .total(let end):
            _ = self.core.count(end, of: self.circuit, .none)
            return nil
        case .decisive(let end, let epoch):
            // The end may have waited so long for the thread that counts that the circuit has tripped and recovered.
            guard self.lookWhetherPresent(epoch) else { return self.count(.total(end)) }
            // Commits of other processes may have kept the counts from taking over the answer of the look.
            for _ in 0..<3 where self.circuit.counts.epoch != epoch { self.look() }
            let counted = self.core.count(end, of: self.circuit, .file(epoch: epoch)) {
                self.validAnswer?.epoch == epoch
            }
            return self.share(counted)
        case .inMemory(let end, let epoch):
            return self.share(self.core.count(end, of: self.circuit, .memory(epoch: epoch)))
        }
    }

    /// Counts an end; if a share is reached, asks the other processes to publish, unless this one is alone.
    ///
    /// Blocks for as long as the file system does.
    ///
    /// - Parameter error: the text of the failure, if the board or the file is to get it.
    /// - Returns: the share by which the caller must trip the circuit at once.
    private func countAndAsk(_ end: CallEnd, error: (text: String, uptime: Int64)?) -> Circuit.ReachedShare? {
        let share = self.count(end.count)
        guard case .decisive(_, let epoch) = end.count else { return share }
        let counts = self.circuit.counts
        if let error { counts.noteOnBoard(error.text, at: error.uptime) }
        if let share, !self.core.askUnlessAlone(self.circuit, epoch: epoch, error: error?.text) { return share }
        if let error { counts.noteError(error.text, epoch: epoch) }
        return nil
    }

    func countAndAsk(_ end: CallEnd) -> Circuit.ReachedShare? { self.countAndAsk(end, error: self.wantedError(end)) }

    /// The text of a failure, if it is time that the board gets one, or the file has got the one before: to make each
    /// text may be expensive.
    private func wantedError(_ end: CallEnd) -> (text: String, uptime: Int64)? {
        guard case .decisive = end.count, end.ending.verdict.isFailure else { return nil }
        let uptime = self.core.clock.uptime
        guard self.circuit.counts.wantsError(at: uptime), let text = self.text(of: end.ending) else { return nil }
        return (text, uptime)
    }

    /// Counts on a thread that may wait, so that no task waits for the file system.
    ///
    /// The caller's thread counts an end that was just committed, if no rule decides by it: the file system has just
    /// worked. Returns nil if the caller has nothing to do, or at the deadline; that thread then acts on the share.
    func count(_ end: CallEnd) async -> Circuit.ReachedShare? {
        switch end.count {
        case .done: return nil
        case .total where end.input != nil && self.core.hasBoard(for: self.circuit): return self.count(end.count)
        case .total, .decisive, .inMemory: break
        }
        let error = self.wantedError(end)
        return await self.core.countingJobs.value(
            until: self.store.deadline, by: self.core.sharedTimer.value,
            late: { self.tripLater($0, end) },
            { self.countAndAsk(end, error: error) }) ?? nil
    }

    func countLater(_ end: CallEnd) {
        if case .done = end.count { return }
        let error = self.wantedError(end)
        self.core.countingJobs.run { self.tripLater(self.countAndAsk(end, error: error), end) }
    }

    private func share(_ counted: Circuit.WindowCounts) -> Circuit.ReachedShare? {
        (self.circuit.lastRead?.rules ?? Rules(self.circuit.registeredConfig)).share(reachedBy: counted)
    }

    // MARK: - Tripping

    /// Acts on a share that was reached, where no other process is asked.
    ///
    /// - Returns: the work that opens the circuit, if the share is still reached at the commit; nil if there is nothing
    ///   to commit.
    func act(on share: Circuit.ReachedShare, _ end: CallEnd) -> StoreCore.Work<Void>? {
        guard case .decisive(_, let epoch) = end.count else {
            self.countInMemory(share, end)
            return nil
        }
        let (circuit, core) = (self.circuit, self.core)
        let error = self.text(of: end.ending)
        return { (transaction) throws(BreakerStoreError) in
            try core.tripByShare(circuit, epoch: epoch, error: error, transaction)
        }
    }

    /// Has the store's thread open the circuit, if a share was reached.
    private func tripLater(_ share: Circuit.ReachedShare?, _ end: CallEnd) {
        guard let share else { return }
        guard let work = self.act(on: share, end) else { return }
        self.core.post(until: self.store.deadline, orElse: { _ in self.countInMemory(share, end) }, work)
    }

    /// Opens the circuit in memory, because its calls have reached the share, or the trip could not be committed.
    func countInMemory(_ share: Circuit.ReachedShare, _ end: CallEnd) {
        let epoch: Int64? = if case .inMemory(_, let epoch) = end.count { epoch } else { nil }
        self.circuit.shareReachedInMemory(
            by: Circuit.WindowCounts(share), error: self.text(of: end.ending), at: self.core.clock.now,
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
