/// Commits changes: each waits as a ticket for the leader of the moment.
extension StoreCore {
    typealias Work<Value> = @Sendable (Transaction) throws(BreakerStoreError) -> Value

    /// Commits on the calling thread, or blocks it until another thread has committed.
    ///
    /// Not to be called on the cooperative pool.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        for asker: Asker? = nil,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        let ticket = Ticket(deadline: deadline, asker: asker, unclaimed: undo, work)
        switch self.happened({ $0.submitted(ticket, by: .thread) }) {
        case .refuse(let error): throw error
        case .lead:
            self.commitRound()
            self.happened { $0.leadEnded() }
        case .wait: break
        }
        if let outcome = ticket.outcome ?? ticket.wait() { return try outcome.get() }
        let error = BreakerStoreError.overdue(isTaken: self.ask { $0.waiterGaveUp(ticket) }, self.file.path)
        // The commit may have ended in this instant. Its outcome counts then, or a probe's claim would be lost.
        if !ticket.fail(error), let outcome = ticket.outcome { return try outcome.get() }
        self.lose(error)
        throw error
    }

    /// Commits on the store's thread, or with another caller's commit; the task is suspended meanwhile.
    ///
    /// - Parameter isBrief: whether the calling thread may commit, if that takes no more than one commit without a sync
    ///   and nobody else wants anything. The main actor's may not, and where each commit is synced, none may.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        for asker: Asker? = nil,
        isBrief: Bool = false,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) async throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        let ticket = Ticket(deadline: deadline, asker: asker, unclaimed: undo, work)
        let mayCommit = self.mayCommitInPassing(on: #isolation)
        try self.submit(ticket, mayCommit: isBrief && mayCommit)
        let outcome =
            if let outcome = ticket.outcome { outcome } else { await ticket.value() }
        // Also if the store's thread was faster than this look: it is told that the task waits.
        self.ask { $0.waiterLeft(ticket) }
        return try outcome.get()
    }

    // Not inlined: Swift 6.3.1 makes an invalid module of it.
    @inline(never)
    private func mayCommitInPassing(on actor: (any Actor)?) -> Bool {
        actor !== MainActor.shared && self.configuration.durability != .everyCommit
    }

    /// Submits a task's ticket, and commits it at once if the calling thread may and nobody else wants anything.
    private func submit(_ ticket: some AnyTicket, mayCommit: Bool) throws(BreakerStoreError) {
        switch self.happened({ $0.submitted(ticket, by: mayCommit ? .taskInPassing : .task) }) {
        case .refuse(let error): throw error
        case .wait: break
        case .lead:
            switch self.writer.commitInPassing(self) {
            case .done(let outcome):
                self.ended(outcome)
                self.happened { $0.leadEnded() }
            case .left(let tickets): self.happened { $0.leftToThread(ticket, tickets) }
            }
        }
    }

    /// Commits on the store's thread, or with another caller's commit; nobody waits.
    func post<Value: Sendable>(
        until deadline: Deadline,
        then: (@Sendable (Value) -> Void)? = nil,
        orElse giveUp: (@Sendable (BreakerStoreError) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) {
        guard !self.isForked else { return }
        let ticket = Ticket(deadline: deadline, then: then, orElse: giveUp, work)
        if case .refuse(let error) = self.happened({ $0.submitted(ticket, by: .nobody) }) { ticket.fail(error) }
    }

    // MARK: - For the leader

    /// Commits all tickets that wait, then tells their callers.
    func commitRound() {
        self.syncUnsynced()
        guard self.ask({ $0.roundBegan() }) else { return }
        self.ended(self.writer.commit(self) { self.circuitsInForce })
    }

    /// Syncs what a task's thread has committed in passing, and tells its callers.
    func syncUnsynced() {
        if let outcome = self.writer.syncUnsynced() { self.ended(outcome) }
    }

    /// A commit has ended: tells the life, then the callers.
    private func ended(_ outcome: Writer.Outcome) {
        // This thread still leads, and the writer's connection still has the pages in memory.
        self.refreshAnswers(outcome.askers)
        let loss = outcome.loss.map(self.loss)
        let pendingFrames = self.writer.pendingFrames
        // The life learns of a loss before any caller hears: a caller whose change failed, or was not synced, must find
        // the store degraded.
        self.happened { $0.commitEnded(loss, pendingFrames: pendingFrames) }
        self.made(outcome.completions)
        for (ticket, error) in outcome.failed { ticket.fail(error) }
        if outcome.hasEvents { self.wakeHubs() }
    }

    /// Keeps the answers about the circuits of the committed tickets, for the callers' next calls.
    ///
    /// Reads the circuits anew where the commit does not prove how it has left them.
    private func refreshAnswers(_ askers: [Asker]) {
        guard let writer = self.writer.opened?.writer else { return }
        var refreshed: Set<ObjectIdentifier> = []
        for asker in askers where refreshed.insert(ObjectIdentifier(asker.circuit)).inserted {
            let known = self.answers.find(asker, in: self.writer.lastCommit)
            if let found = known ?? (try? self.answers.find(asker, through: writer)) { self.answer(found, to: asker) }
        }
    }

    // MARK: - Deadlines

    /// Starts a timer that ends the overdue tickets of tasks.
    ///
    /// One timer serves many tickets: a timer for each report would make every report dearer.
    func start(_ timer: Deadline) {
        // Weak: a store that was closed must not stay in memory until the deadline.
        Task.detached { [weak self] in
            try? await Task.sleep(for: timer.remaining)
            self?.fired(timer)
        }
    }

    private func fired(_ timer: Deadline) {
        let overdue = self.happened { $0.timerFired(timer, at: .now) }
        for (ticket, isTaken) in overdue where !ticket.isDone {
            let error = BreakerStoreError.overdue(isTaken: isTaken, self.file.path)
            // The store degrades before the caller hears: the caller must find it so.
            self.lose(error)
            ticket.fail(error)
        }
    }
}

extension StoreCore: Writer.Batches {
    func isTimeToGiveUp() -> Bool {
        let loss = self.loss(.busy(self.file.path))
        return self.happened { $0.fileWasBusy(loss, at: .now) }
    }

    func takeAll() -> [any AnyTicket] { self.ask { $0.fileLocked() } }

    func made(_ completions: [@Sendable () -> Void]) { for completion in completions { completion() } }

    var lossOrClosed: BreakerStoreError { self.ask { $0.loss } ?? .closed(self.file.path) }
}
