/// What waits to be committed, and who commits it.
///
/// A synchronous caller leads itself when nobody does, for a hop to another thread and back costs more than the commit.
/// The store's thread leads for tasks, which must not block.
extension StoreLife {
    enum Submitter {
        /// A thread, which can lead and can block.
        case thread
        /// A task, which is suspended until its change is made.
        case task
        /// Nobody waits for the change.
        case nobody
    }

    enum SubmitAction {
        /// The change is not taken in.
        case refuse(BreakerStoreError)
        /// The caller leads from now on.
        case lead
        /// Somebody else makes the change.
        case wait
    }

    /// A change is to be made.
    mutating func submitted(_ ticket: any AnyTicket, by submitter: Submitter) -> (SubmitAction, Actions) {
        if let refusal = self.refusal { return (.refuse(refusal), Actions()) }
        self.waiting.append(ticket)
        var actions = Actions()
        if case .task = submitter {
            self.awaited[ObjectIdentifier(ticket)] = ticket
            actions.timer = self.newTimer(for: ticket.deadline)
        }
        guard case .nobody = self.lead else { return (.wait, actions) }
        if case .thread = submitter {
            self.lead = .caller
            return (.lead, actions)
        }
        self.lead = .thread
        actions.wakesThread = true
        return (.wait, actions)
    }

    /// The one who leads turns to the file; false if nothing waits for that.
    ///
    /// Tickets that were overdue before, for an earlier commit, do not hurry this one.
    mutating func roundBegan() -> Bool {
        self.isOverdue = false
        return !self.waiting.isEmpty
    }

    /// The one who leads has locked the file, and takes all that waits, in order.
    mutating func fileLocked() -> [any AnyTicket] { self.takeWaiting() }

    /// The one who leads finds the file in use by others: says whether to give up, since something has waited in vain.
    ///
    /// Tickets that came later don't count: they would keep the leader waiting for ever.
    mutating func fileWasBusy(
        _ loss: Loss,
        at now: Instant
    ) -> (givesUp: Bool, Actions) {
        let overdue = self.takeOverdue(at: now)
        guard !overdue.isEmpty else { return (self.isOverdue || self.waiting.isEmpty, Actions()) }
        // Something waits, so nothing is lost yet.
        var actions = self.lost(loss)
        actions.failed += overdue
        actions.error = loss.error
        return (true, actions)
    }

    /// A commit has ended.
    ///
    /// - Parameters:
    ///   - loss: why the file can't be used any longer, if so.
    ///   - pendingFrames: how long the log is that a checkpoint would copy.
    mutating func commitEnded(
        _ loss: Loss?,
        pendingFrames: Int
    ) -> Actions {
        var actions = loss.map { self.lost($0) } ?? Actions()
        if pendingFrames >= Self.framesBeforeCheckpoint, case .notDue = self.checkpoint {
            self.checkpoint = .due
            actions.wakesThread = true
        }
        // The log's reserve for a full disk is nearly used up: nobody goes on before the thread has copied it.
        if pendingFrames >= Self.framesBeforeWaiting { _ = self.threadWantsLead() }
        return actions
    }

    /// Keeps the log short of the 1,000 frames at which a stock shell would checkpoint by itself.
    static let framesBeforeCheckpoint = 200
    static let framesBeforeWaiting = 230

    /// A call wants to read through the connection that writes; true if it may, and leads until `leadEnded`.
    mutating func lookBegan() -> Bool {
        guard self.isHealthy, case .nobody = self.lead else { return false }
        self.lead = .looker
        return true
    }

    /// A caller or a looker is done: what else waits is the thread's to commit.
    mutating func leadEnded() -> Actions {
        guard self.isLeadWanted || !self.waiting.isEmpty else {
            self.lead = .nobody
            return Actions()
        }
        self.lead = .thread
        self.isLeadWanted = false
        return Actions(wakesThread: true)
    }

    /// The store's thread is done: true if it leads no longer, false if something waits.
    mutating func threadEndedRound() -> Bool {
        guard self.waiting.isEmpty else { return false }
        self.lead = .nobody
        self.isLeadWanted = false
        return true
    }

    /// The store's thread asks for the lead: true if it has it, else it is handed over when the leader of the moment is
    /// done.
    mutating func threadWantsLead() -> Bool {
        switch self.lead {
        case .nobody:
            self.lead = .thread
            return true
        case .caller, .looker:
            self.isLeadWanted = true
            return false
        case .thread:
            return true
        }
    }

    // MARK: - Deadlines

    /// A thread has waited until its deadline; says whether its commit has begun, so that it may yet be done.
    mutating func waiterGaveUp(_ ticket: any AnyTicket) -> Bool { !self.withdraw(ticket) }

    /// A task has got its answer: an hour's deadline is no reason to keep the ticket for an hour.
    mutating func waiterLeft(_ ticket: any AnyTicket) { self.awaited[ObjectIdentifier(ticket)] = nil }

    /// A timer has fired: hands over what tasks wait for in vain, each with whether its commit has begun.
    ///
    /// The store's thread may be stuck in the file, and a suspended task can't look at the time itself.
    mutating func timerFired(
        _ timer: Deadline,
        at now: Instant
    ) -> (overdue: [(ticket: any AnyTicket, isTaken: Bool)], Actions) {
        self.timers.removeAll { $0 == timer }
        var overdue: [(ticket: any AnyTicket, isTaken: Bool)] = []
        for ticket in self.awaited.values where ticket.deadline.isOver(at: now) {
            overdue.append((ticket, isTaken: !self.withdraw(ticket)))
        }
        for (ticket, _) in overdue { self.awaited[ObjectIdentifier(ticket)] = nil }
        let next = self.awaited.values.map(\.deadline).min()
        return (overdue, Actions(timer: next.flatMap { self.newTimer(for: $0) }))
    }

    /// The deadline as a new timer's; nil if one of those there are comes soon enough.
    private mutating func newTimer(for deadline: Deadline) -> Deadline? {
        if self.timers.contains(where: { $0 <= deadline }) { return nil }
        self.timers.append(deadline)
        return deadline
    }

    // MARK: - Taking out

    mutating func takeWaiting() -> [any AnyTicket] {
        defer { self.waiting.removeAll(keepingCapacity: true) }
        self.isOverdue = false
        return self.waiting
    }

    mutating func takeOverdue(at now: Instant) -> [any AnyTicket] {
        var overdue: [any AnyTicket] = []
        self.waiting.removeAll { ticket in
            let isOver = ticket.deadline.isOver(at: now)
            if isOver { overdue.append(ticket) }
            return isOver
        }
        return overdue
    }

    /// Takes a ticket back; false if its commit has begun.
    private mutating func withdraw(_ ticket: any AnyTicket) -> Bool {
        let count = self.waiting.count
        self.waiting.removeAll { $0 === ticket }
        guard self.waiting.count < count else { return false }
        self.isOverdue = true
        return true
    }
}
