/// Counts how calls end, for totals and for rules about shares of the calls.
extension CircuitBreaker {
    // MARK: - Durations

    /// The uptime at which an operation begins; nil where nobody asks how long it takes.
    func startMeasuring() -> Int64? {
        self.circuit.counts.hasSlowRule || self.measuresDurations ? self.uptime : nil
    }

    /// How many microseconds an operation took that began at this uptime.
    func measured(since began: Int64?) -> Int64? { began.map { max(0, self.uptime - $0) } }

    func isSlow(_ ending: Ending) -> Bool {
        guard let duration = ending.duration, ending.verdict != .ignored else { return false }
        return self.circuit.counts.isSlow(duration)
    }

    // MARK: - Counting

    /// How an end is counted.
    enum Counted: Sendable {
        /// In a lane; or nowhere, if the call was made through a former circuit of this name. Nothing is left to do.
        case good
        /// On the board, for totals alone.
        case total(BadEnd)
        /// On the board, where a rule decides; the call was let through under this epoch.
        case decisive(BadEnd, epoch: Int64)
        /// On the board, and by this process for itself: memory, which has let the call through under this epoch,
        /// decides by the process's own counts.
        case inMemory(BadEnd, epoch: Int64)
    }

    /// Counts a good end in a lane, or says how the end is to be counted.
    func countIfGood(_ ending: Ending, of admitted: Admitted) -> Counted {
        if case .counted(let epoch, reportsSuccess: _) = admitted, self.circuit.counts.isFormer(epoch: epoch) {
            return .good
        }
        if let duration = ending.duration, ending.verdict != .ignored { self.circuit.counts.add(duration: duration) }
        let isSlow = self.isSlow(ending)
        let isFailed = ending.verdict.isFailure
        guard isFailed || isSlow else {
            let good: LaneCounts.Word = admitted.isInWindow ? .succeeded : .aside
            self.circuit.counts.lanes.add(ending.verdict == .ignored ? .ignored : good)
            return .good
        }
        let end = BadEnd(isFailed: isFailed, isSlow: isSlow)
        switch admitted {
        case .uncounted, .observed, .probe: return .total(end.late)
        case .inMemory(.proceed(let epoch)): return .inMemory(end, epoch: epoch)
        case .inMemory: return .total(end.late)
        case .counted(let epoch, reportsSuccess: _):
            guard self.circuit.counts.shortestWindow != nil else { return .total(end) }
            if self.isPresent(epoch) { return .decisive(end, epoch: epoch) }
            // Asked after `isPresent`, which reads the file: only then the process knows of another circuit.
            return self.circuit.counts.isFormer(epoch: epoch) ? .good : .total(end.late)
        }
    }

    /// Whether the circuit is still in the epoch in which a call was let through.
    private func isPresent(_ epoch: Int64) -> Bool {
        let answer = self.circuit.slot.ask(self.store.gate)
        if answer.verdict != .none { return answer.epoch == epoch }
        guard !self.store.gate.isForked, !self.store.isClosed else { return false }
        return (try? self.core.look(self.asker))??.epoch ?? epoch == epoch
    }

    /// Counts an end that is not good; returns the share that was reached with it.
    ///
    /// Blocks for as long as the file system does.
    func count(_ counted: Counted) -> Circuit.ReachedShare? {
        switch counted {
        case .good: return nil
        case .total(let end):
            _ = self.core.count(end, of: self.circuit, epoch: self.circuit.counts.epoch)
            return nil
        case .decisive(let end, let epoch):
            // The end may have waited for the thread that counts so long that the circuit tripped and recovered.
            guard self.isPresent(epoch) else { return self.count(.total(end.late)) }
            return self.share(self.core.count(end, of: self.circuit, epoch: epoch))
        case .inMemory(let end, let epoch):
            let known = self.circuit.lastRead?.epoch ?? epoch
            return self.share(self.core.count(end, of: self.circuit, epoch: known, inMemory: epoch))
        }
    }

    /// Counts on the thread that counts, so that no task waits for the file system.
    ///
    /// Returns nil if no share was reached, and if the deadline comes first; that thread then acts on the share.
    ///
    /// - Parameter afterCommit: whether the same end has just been committed. The file system worked then, and the
    ///   caller's thread may add the end itself.
    func count(_ counted: Counted, _ ending: Ending, afterCommit: Bool) async -> Circuit.ReachedShare? {
        switch counted {
        case .good: return nil
        case .total where afterCommit && self.core.hasBoard(for: self.circuit): return self.count(counted)
        case .total, .decisive, .inMemory: break
        }
        return await self.core.countingThread.value(
            until: self.store.deadline, by: self.core.sharedTimer.value, self.core.ticker,
            late: { self.tripLater($0, counted, ending) },
            { self.count(counted) }) ?? nil
    }

    /// Counts without waiting.
    func countLater(_ counted: Counted, _ ending: Ending) {
        if case .good = counted { return }
        self.core.countingThread.run(self.core.ticker) { self.tripLater(self.count(counted), counted, ending) }
    }

    private func share(_ counted: Circuit.CountedCalls) -> Circuit.ReachedShare? {
        (self.circuit.lastRead?.rules ?? Rules(self.circuit.registeredConfig)).share(reachedBy: counted)
    }

    // MARK: - Tripping

    /// Acts on a share that was reached.
    ///
    /// Where other processes use the circuit, the share is suspected first, and the thread that counts opens the
    /// circuit.
    /// - Returns: what opens the circuit, if the share is still reached when that is committed; nil if nothing is to be
    ///   committed.
    func act(on share: Circuit.ReachedShare?, _ counted: Counted, _ ending: Ending) -> StoreCore.Work<Void>? {
        guard let share else {
            self.noteText(of: ending, counted)
            return nil
        }
        guard case .decisive(_, let epoch) = counted else {
            self.tellMemory(share, ending, counted)
            return nil
        }
        let circuit = self.circuit
        let core = self.core
        if core.suspectUnlessAlone(circuit, epoch: epoch, error: { self.text(of: ending) }) {
            self.noteText(of: ending, counted)
            return nil
        }
        let error = self.text(of: ending)
        return { (transaction) throws(BreakerStoreError) in
            try core.tripByShare(circuit, epoch: epoch, error: error, transaction)
        }
    }

    /// Has the store's thread open the circuit, if a share was reached.
    private func tripLater(_ share: Circuit.ReachedShare?, _ counted: Counted, _ ending: Ending) {
        guard let work = self.act(on: share, counted, ending) else { return }
        self.core.post(until: self.store.deadline, orElse: { _ in self.tellMemory(share, ending) }, work)
    }

    /// Opens the circuit in memory: its calls have reached the share, or the trip could not be committed.
    func tellMemory(_ share: Circuit.ReachedShare?, _ ending: Ending, _ counted: Counted? = nil) {
        guard let share else { return }
        let epoch: Int64? = if case .inMemory(_, let epoch) = counted { epoch } else { nil }
        self.memory.shareReached(
            by: Circuit.CountedCalls(share), of: self.name, self.circuit.rulesInMemory, error: self.text(of: ending),
            at: self.core.clock.now, epoch: epoch)
    }

    /// Keeps the text of a failure that has tripped nothing; the file is told now and then.
    private func noteText(of ending: Ending, _ counted: Counted) {
        guard case .decisive(_, let epoch) = counted, ending.verdict.isFailure else { return }
        self.circuit.counts.noteError(epoch: epoch) { self.text(of: ending) }
    }
}

extension Circuit.CountedCalls {
    fileprivate init(_ share: Circuit.ReachedShare) {
        switch share {
        case .failed(let calls): self.init(failed: calls)
        case .slow(let calls): self.init(slow: calls)
        }
    }
}
