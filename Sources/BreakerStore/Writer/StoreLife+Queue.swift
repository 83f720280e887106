/// Group commit: the queue of tickets that wait, and the lead, which is the right to commit all of them.
///
/// If no thread leads, a synchronous caller takes the lead, because a hop to another thread and back costs more than
/// the commit. The store's thread leads for tasks, which must not block.
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
        // The store's thread is syncing the log, and takes the lead afterwards. If it had the lead already, synchronous
        // callers would wait for the sync.
        if case .synced = self.checkpoint { return (.wait, actions) }
        self.lead = .thread
        actions.wakesThread = true
        return (.wait, actions)
    }

    /// The leader begins a round; false if no ticket waits.
    ///
    /// Clears `hasTimedOutWaiter`: a caller that gave up before this round does not make this round give up.
    mutating func startRound() -> Bool {
        self.hasTimedOutWaiter = false
        return !self.waiting.isEmpty
    }

    /// The leader has locked the file, and takes all tickets that wait, in order.
    mutating func fileLocked() -> [any AnyTicket] { self.drainWaiting() }

    /// The leader finds the file locked by another process: if a ticket is overdue, the store degrades.
    ///
    /// One overdue ticket is enough. Otherwise tickets that come later would keep the leader waiting forever.
    ///
    /// - Returns: whether the leader must stop waiting for the file.
    mutating func handleBusyFile(
        _ loss: Loss,
        at now: Instant
    ) -> (givesUp: Bool, Actions) {
        let overdue = self.drainOverdue(at: now)
        guard !overdue.isEmpty else { return (self.hasTimedOutWaiter || self.waiting.isEmpty, Actions()) }
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
        if pendingFrames >= Self.framesBeforeWaiting { self.acquireLeadForThread() }
        return actions
    }

    /// The number of frames at which a checkpoint is due: a stock sqlite3 shell would make a checkpoint at 1,000.
    static let framesBeforeCheckpoint = 200
    static let framesBeforeWaiting = 230

    /// A call asks to read through the connection that writes; true if the call leads now, until `leadEnded`.
    mutating func acquireLeadForRead() -> Bool {
        guard self.isHealthy, case .nobody = self.lead else { return false }
        self.lead = .reader
        return true
    }

    /// A caller or a reader gives up the lead; the thread gets it if tickets wait or the thread has asked for it.
    mutating func leadEnded() -> Actions {
        guard self.isLeadWanted || !self.waiting.isEmpty else {
            self.lead = .nobody
            return Actions()
        }
        self.lead = .thread
        self.isLeadWanted = false
        return Actions(wakesThread: true)
    }

    /// The store's thread has committed a round; true if it has given up the lead, false if more tickets wait.
    mutating func releaseLeadIfIdle() -> Bool {
        guard self.waiting.isEmpty else { return false }
        self.lead = .nobody
        self.isLeadWanted = false
        return true
    }

    /// The store's thread asks for the lead; true if it leads now, false if the current leader will hand the lead over.
    @discardableResult mutating func acquireLeadForThread() -> Bool {
        switch self.lead {
        case .nobody:
            self.lead = .thread
            return true
        case .caller, .reader:
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
        self.hasTimedOutWaiter = true
        return false
    }

    // MARK: - Draining

    mutating func drainWaiting() -> [any AnyTicket] {
        defer { self.waiting.removeAll(keepingCapacity: true) }
        self.hasTimedOutWaiter = false
        return self.waiting
    }

    mutating func drainOverdue(at now: Instant) -> [any AnyTicket] {
        self.waiting.extract { $0.deadline.isOver(at: now) }
    }
}
