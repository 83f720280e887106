/// The queue of tickets that wait to be committed, and the lead: the right to commit them.
///
/// If no thread leads, a synchronous caller takes the lead, for a hop to another thread and back costs more than the
/// commit. The store's thread leads for tasks, which must not block.
extension StoreLife {
    enum Submitter {
        /// A thread, which can lead and can block.
        case thread
        /// A task, which is suspended until its change is made.
        case task
        /// No caller waits for the change.
        case nobody
    }

    enum SubmitAction {
        case refuse(BreakerStoreError)
        /// The caller leads from now on.
        case lead
        /// Another thread commits the change.
        case wait
    }

    /// A caller submits a change.
    mutating func submitted(_ ticket: any AnyTicket, by submitter: Submitter) -> (SubmitAction, Actions) {
        if let refusal = self.refusal { return (.refuse(refusal), Actions()) }
        self.waiting.append(ticket)
        var actions = Actions()
        guard case .nobody = self.lead else { return (.wait, actions) }
        if case .thread = submitter {
            self.lead = .caller
            return (.lead, actions)
        }
        // The thread is syncing the log. It must not get the lead yet, or synchronous callers would wait for the sync;
        // it takes the lead afterwards.
        if case .synced = self.checkpoint { return (.wait, actions) }
        self.lead = .thread
        actions.wakesThread = true
        return (.wait, actions)
    }

    /// The leader begins a round; false if no ticket waits.
    ///
    /// Clears `isOverdue`: a caller that gave up its ticket before this round does not make this round give up.
    mutating func roundBegan() -> Bool {
        self.isOverdue = false
        return !self.waiting.isEmpty
    }

    /// The leader has locked the file, and takes all tickets that wait, in order.
    mutating func fileLocked() -> [any AnyTicket] { self.takeWaiting() }

    /// The leader finds the file locked by another process; returns whether to give up, as a ticket's deadline is over.
    ///
    /// One overdue ticket is enough. Otherwise tickets that come later would keep the leader waiting forever.
    mutating func fileWasBusy(
        _ loss: Loss,
        at now: Instant
    ) -> (givesUp: Bool, Actions) {
        let overdue = self.takeOverdue(at: now)
        guard !overdue.isEmpty else { return (self.isOverdue || self.waiting.isEmpty, Actions()) }
        // A ticket was waiting, so the file was not lost before.
        var actions = self.lost(loss)
        actions.failed += overdue
        actions.error = loss.error
        return (true, actions)
    }

    /// A commit has ended.
    ///
    /// - Parameters:
    ///   - loss: why the file can't be used any longer; nil if it can.
    ///   - pendingFrames: how many frames of the log no checkpoint has copied yet.
    mutating func commitEnded(
        _ loss: Loss?,
        pendingFrames: Int
    ) -> Actions {
        var actions = loss.map { self.lost($0) } ?? Actions()
        if pendingFrames >= Self.framesBeforeCheckpoint, case .notDue = self.checkpoint {
            self.checkpoint = .due
            actions.wakesThread = true
        }
        // The log's reserve for a full disk is nearly used up: the thread gets the lead next, to copy the log.
        if pendingFrames >= Self.framesBeforeWaiting { _ = self.threadWantsLead() }
        return actions
    }

    /// The number of frames at which a checkpoint is due: a stock sqlite3 shell would make a checkpoint at 1,000.
    static let framesBeforeCheckpoint = 200
    static let framesBeforeWaiting = 230

    /// A call wants to look through the connection that writes; true if the call may, and then leads until `leadEnded`.
    mutating func lookBegan() -> Bool {
        guard self.isHealthy, case .nobody = self.lead else { return false }
        self.lead = .looker
        return true
    }

    /// A caller or a looker gives up the lead, which goes to the thread if tickets wait or the thread has asked for it.
    mutating func leadEnded() -> Actions {
        guard self.isLeadWanted || !self.waiting.isEmpty else {
            self.lead = .nobody
            return Actions()
        }
        self.lead = .thread
        self.isLeadWanted = false
        return Actions(wakesThread: true)
    }

    /// The store's thread has committed a round; true if it gives up the lead, false if more tickets wait.
    mutating func threadEndedRound() -> Bool {
        guard self.waiting.isEmpty else { return false }
        self.lead = .nobody
        self.isLeadWanted = false
        return true
    }

    /// The store's thread asks for the lead; true if it leads now, false if the present leader will hand the lead over.
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

    /// A caller has waited until its ticket's deadline; true if the commit has begun, and may yet succeed.
    mutating func waiterGaveUp(_ ticket: any AnyTicket) -> Bool {
        let count = self.waiting.count
        self.waiting.removeAll { $0 === ticket }
        guard self.waiting.count < count else { return true }
        self.isOverdue = true
        return false
    }

    // MARK: - Taking out

    mutating func takeWaiting() -> [any AnyTicket] {
        defer { self.waiting.removeAll(keepingCapacity: true) }
        self.isOverdue = false
        return self.waiting
    }

    mutating func takeOverdue(at now: Instant) -> [any AnyTicket] {
        self.waiting.extract { $0.deadline.isOver(at: now) }
    }
}
