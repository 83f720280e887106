/// Commits changes: each change waits as a ticket for the present leader.
extension StoreCore {
    typealias Work<Value> = @Sendable (Transaction) throws(BreakerStoreError) -> Value

    /// Commits on the calling thread, or blocks it until another thread has committed.
    ///
    /// Must not be called on the cooperative pool.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        let ticket = Ticket(deadline: deadline, unclaimed: undo, work)
        switch self.happened({ $0.submitted(ticket, by: .thread) }) {
        case .refuse(let error): throw error
        case .lead:
            self.commitRound()
            self.happened { $0.leadEnded() }
        case .wait: break
        }
        return try (ticket.outcome ?? ticket.wait() ?? self.giveUp(ticket)).get()
    }

    /// Commits on the store's thread, or with another caller's commit; the task is suspended meanwhile.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) async throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        let ticket = Ticket(deadline: deadline, unclaimed: undo, work)
        if case .refuse(let error) = self.happened({ $0.submitted(ticket, by: .task) }) { throw error }
        if let outcome = ticket.outcome { return try outcome.get() }
        // The store's thread may be stuck in a system call: the timer wakes the task at its deadline all the same.
        return try (await ticket.value(by: self.sharedTimer.value) ?? self.giveUp(ticket)).get()
    }

    /// Ends a ticket whose deadline is over; returns its outcome.
    private func giveUp<Value>(_ ticket: Ticket<Value>) -> Ticket<Value>.Completion {
        let error = BreakerStoreError.overdue(isTaken: self.report { $0.waiterGaveUp(ticket) }, self.file.path)
        // The commit may have ended in this instant. Then its outcome counts, or a probe's claim would be lost.
        if !ticket.fail(error), let outcome = ticket.outcome { return outcome }
        // The store degrades before the caller gets the error: the caller must find it degraded.
        self.lose(error)
        return .failure(error)
    }

    /// Commits on the store's thread, or with another caller's commit; no caller waits.
    func post<Value: Sendable>(
        until deadline: Deadline,
        then: (@Sendable (Value) -> Void)? = nil,
        orElse giveUp: (@Sendable (BreakerStoreError) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) {
        self.submit(Ticket(deadline: deadline, then: then, orElse: giveUp, work))
    }

    func submit(_ ticket: any AnyTicket) {
        guard !self.isForked else { return }
        if case .refuse(let error) = self.happened({ $0.submitted(ticket, by: .nobody) }) { ticket.fail(error) }
    }

    // MARK: - For the leader

    /// Commits all tickets that wait, then resumes their callers.
    func commitRound() {
        guard self.report({ $0.roundBegan() }) else { return }
        self.ended(self.writer.commit(self) { self.circuits.inForce })
    }

    /// Reports the end of a commit to the life, then resumes the callers.
    private func ended(_ outcome: Writer.BatchResult) {
        let loss = outcome.loss.map(self.loss)
        let pendingFrames = self.writer.pendingFrames
        // The life learns of a loss before any caller does: a caller whose change failed, or was not synced, must find
        // the store degraded.
        self.happened { $0.commitEnded(loss, pendingFrames: pendingFrames) }
        self.made(outcome.completions)
        for (ticket, error) in outcome.failed { ticket.fail(error) }
        if outcome.hasEvents { self.feed.wake() }
    }
}

extension StoreCore: Writer.Batches {
    func giveUpIfOverdue() -> Bool {
        let loss = self.loss(.busy(self.file.path))
        return self.happened { $0.fileWasBusy(loss, at: .now) }
    }

    func takeAll() -> [any AnyTicket] { self.report { $0.fileLocked() } }

    func made(_ completions: [@Sendable () -> Void]) { for completion in completions { completion() } }

    var lossOrClosed: BreakerStoreError { self.ask { $0.loss?.reason } ?? .closed(self.file.path) }
}
