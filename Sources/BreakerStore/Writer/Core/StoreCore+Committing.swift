/// Commits changes: each change waits as a ticket for the current leader (`StoreLife.Lead`).
extension StoreCore {
    typealias Work<Value> = @Sendable (Transaction) throws(BreakerStoreError) -> Value

    /// Commits on the calling thread, or blocks it until another thread has committed.
    ///
    /// Must not be called on the cooperative pool.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        undoIfUnclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        let ticket = Ticket(deadline: deadline, undoIfUnclaimed: undo, work)
        switch self.apply({ $0.submitted(ticket, by: .thread) }) {
        case .refuse(let error): throw error
        case .lead:
            self.commitRound()
            self.apply { $0.leadEnded() }
        case .wait: break
        }
        return try (ticket.outcome ?? ticket.wait() ?? self.giveUp(ticket)).get()
    }

    /// Commits on the store's thread, or with another caller's commit; suspends the task until then.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        undoIfUnclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) async throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        let ticket = Ticket(deadline: deadline, undoIfUnclaimed: undo, work)
        if case .refuse(let error) = self.apply({ $0.submitted(ticket, by: .task) }) { throw error }
        if let outcome = ticket.outcome { return try outcome.get() }
        // The store's thread may be stuck in a system call: the timer wakes the task at its deadline all the same.
        return try (await ticket.value(by: self.sharedTimer.value) ?? self.giveUp(ticket)).get()
    }

    /// Fails a ticket whose deadline is over and degrades the store, unless the commit has just ended.
    ///
    /// - Returns: the ticket's outcome.
    private func giveUp<Value>(_ ticket: Ticket<Value>) -> Ticket<Value>.Completion {
        let error = BreakerStoreError.overdue(hasBegun: self.update { $0.waiterGaveUp(ticket) }, self.file.path)
        // The commit may have ended just now. Then its outcome counts: otherwise a probe's claim would be lost.
        if !ticket.fail(error), let outcome = ticket.outcome { return outcome }
        // First, because a caller with this error must find the store degraded.
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
        if case .refuse(let error) = self.apply({ $0.submitted(ticket, by: .nobody) }) { ticket.fail(error) }
    }

    // MARK: - For the leader

    /// Commits all tickets that wait, then resumes their callers.
    func commitRound() {
        guard self.update({ $0.startRound() }) else { return }
        self.endRound(self.writer.commit(self, circuits: { self.circuits.inForce }))
    }

    /// Applies the end of a commit to the state machine, then resumes the callers.
    private func endRound(_ result: Writer.BatchResult) {
        let loss = result.loss.map(self.loss)
        let pendingFrames = self.writer.pendingFrames
        // First: a caller whose change failed, or was not synced, must find the store degraded.
        self.apply { $0.commitEnded(loss, pendingFrames: pendingFrames) }
        self.resume(result.completions)
        for (ticket, error) in result.failed { ticket.fail(error) }
        if result.hasEvents { self.feed.wake() }
    }
}

extension StoreCore: Writer.TicketQueue {
    func giveUpIfOverdue() -> Bool {
        let loss = self.loss(.busy(self.file.path))
        return self.apply { $0.handleBusyFile(loss, at: .now) }
    }

    func drainAll() -> [any AnyTicket] { self.update { $0.fileLocked() } }

    func resume(_ completions: [@Sendable () -> Void]) { for completion in completions { completion() } }

    var lossOrClosed: BreakerStoreError { self.read { $0.loss?.reason } ?? .closed(self.file.path) }
}
