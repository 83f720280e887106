import Synchronization

/// Lines up changes and commits all that wait in one transaction.
///
/// One thread at a time leads: it commits for everybody. A synchronous caller leads itself when nobody does, for a hop to
/// another thread and back costs more than the commit; the store's thread leads for tasks, which must not block.
final class CommitQueue: Sendable {
    /// How a leader commits.
    protocol Committer: AnyObject, Sendable {
        /// Commits what `queue.takeAll()` gives once the file is locked, and answers it.
        func commitWaiting(in queue: CommitQueue)
        /// Makes the store's thread look whether the lead has been handed to it.
        func wakeStoreThread()
        /// Somebody has gone on without its commit: what it reported is not acknowledged.
        func gaveUp(_ error: BreakerStoreError)
    }

    private enum Lead {
        case nobody, caller, storeThread
    }

    private struct State {
        var waiting: [any AnyTicket] = []
        var lead = Lead.nobody
        /// The store's thread asks for the lead, for work of its own.
        var isWanted = false
        var refusal: BreakerStoreError?
        /// Whether something has waited in vain since the file was last locked.
        var isOverdue = false
        /// What tasks wait for.
        var awaited: [ObjectIdentifier: any AnyTicket] = [:]
        /// When timers fire that end what tasks wait for in vain: few, for a deadline that is later needs none.
        var timers: [Deadline] = []

        mutating func takeWaiting() -> [any AnyTicket] {
            defer { self.waiting.removeAll(keepingCapacity: true) }
            self.isOverdue = false
            return self.waiting
        }

        /// Returns whether a timer must be started for this deadline: none of those there are comes soon enough.
        mutating func needsTimer(for deadline: Deadline) -> Bool {
            if self.timers.contains(where: { $0 <= deadline }) { return false }
            self.timers.append(deadline)
            return true
        }
    }

    private let state = Mutex(State())

    /// Commits on the calling thread, or waits there for the one who does.
    ///
    /// Not on the cooperative pool.
    func submit<Value>(_ ticket: Ticket<Value>, to committer: any Committer) throws(BreakerStoreError) -> Value {
        if self.enqueue(ticket, leader: .caller) { self.leadAsCaller(with: committer) }
        if let outcome = ticket.outcome ?? ticket.wait() { return try outcome.get() }
        let error = self.giveUp(ticket)
        if ticket.outcome?.isFailure == true { committer.gaveUp(error) }
        // It may have been done in this very instant: a probe's claim must not be lost.
        if let outcome = ticket.outcome { return try outcome.get() }
        throw error
    }

    /// Waits for the store's thread without blocking.
    func submit<Value>(_ ticket: Ticket<Value>, to committer: any Committer) async throws(BreakerStoreError) -> Value {
        if self.enqueue(ticket, leader: .storeThread) { committer.wakeStoreThread() }
        self.watch(ticket, committer)
        let outcome = await ticket.value()
        // An hour's deadline is no reason to keep what is done for an hour.
        self.state.withLock { $0.awaited[ObjectIdentifier(ticket)] = nil }
        return try outcome.get()
    }

    /// Ends the ticket at its deadline: the store's thread may be stuck in the file, and a task can't wait for itself.
    private func watch(_ ticket: any AnyTicket, _ committer: any Committer) {
        let needsTimer = self.state.withLock {
            $0.awaited[ObjectIdentifier(ticket)] = ticket
            return $0.needsTimer(for: ticket.deadline)
        }
        if needsTimer { self.startTimer(for: ticket.deadline, committer) }
    }

    /// One timer for many tickets, or each report would pay for its own.
    private func startTimer(for deadline: Deadline, _ committer: any Committer) {
        // Weak: a store that was closed must not stay in memory until the deadline.
        Task.detached { [weak self, weak committer] in
            try? await Task.sleep(for: deadline.remaining)
            guard let self, let committer else { return }
            self.endOverdue(at: deadline, committer)
        }
    }

    private func endOverdue(at deadline: Deadline, _ committer: any Committer) {
        let (overdue, next): ([any AnyTicket], Deadline?) = self.state.withLock {
            $0.timers.removeAll { $0 == deadline }
            let overdue = $0.awaited.values.filter { $0.deadline.isOver }
            for ticket in overdue { $0.awaited[ObjectIdentifier(ticket)] = nil }
            guard let next = $0.awaited.values.map(\.deadline).min(), $0.needsTimer(for: next) else {
                return (overdue, nil)
            }
            return (overdue, next)
        }
        for ticket in overdue where !ticket.isDone {
            // Before its caller hears of it: it is to see that the store is not healthy.
            let error = self.overdue(isTaken: !self.withdraw(ticket))
            if !ticket.isDone { committer.gaveUp(error) }
            ticket.fail(error)
        }
        if let next { self.startTimer(for: next, committer) }
    }

    /// Leaves it to the store's thread.
    func post(_ ticket: any AnyTicket, to committer: any Committer) {
        if self.enqueue(ticket, leader: .storeThread) { committer.wakeStoreThread() }
    }

    // MARK: - For the one who commits

    var waitingCount: Int { self.state.withLock { $0.waiting.count } }
    var timerCount: Int { self.state.withLock { $0.timers.count } }

    /// Whether anything waits: called before the file is locked.
    ///
    /// Who has waited in vain until now, for an earlier commit, does not hurry this one.
    func beginRound() -> Bool {
        self.state.withLock {
            $0.isOverdue = false
            return !$0.waiting.isEmpty
        }
    }

    /// All that waits, in order; whoever asks has locked the file.
    func takeAll() -> [any AnyTicket] { self.state.withLock { $0.takeWaiting() } }

    /// Ends what has waited beyond its deadline, and says whether it is time to give up: something has waited in vain.
    ///
    /// Those who came later don't count: they would keep the leader waiting for ever.
    func expireOverdue(with error: BreakerStoreError, _ committer: any Committer) -> Bool {
        let (overdue, isOverdue): ([any AnyTicket], Bool) = self.state.withLock {
            var overdue: [any AnyTicket] = []
            $0.waiting.removeAll { ticket in
                let isOver = ticket.deadline.isOver
                if isOver { overdue.append(ticket) }
                return isOver
            }
            if !overdue.isEmpty { $0.isOverdue = true }
            return (overdue, $0.isOverdue || $0.waiting.isEmpty)
        }
        // Before they hear of it: they are to see that the store is not healthy.
        if !overdue.isEmpty { committer.gaveUp(error) }
        for ticket in overdue { ticket.fail(error) }
        return isOverdue
    }

    /// Fails all that waits, and from now on all that comes, until `accept` is called.
    func refuse(with error: BreakerStoreError) {
        for ticket in self.beginToRefuse(with: error) { ticket.fail(error) }
    }

    /// Lets nothing more in; returns what waits, for the caller to fail.
    func beginToRefuse(with error: BreakerStoreError) -> [any AnyTicket] {
        self.state.withLock {
            $0.refusal = error
            return $0.takeWaiting()
        }
    }

    func accept() { self.state.withLock { $0.refusal = nil } }

    // MARK: - For the store's thread

    /// Asks for the lead: true if it is there now, else it is handed over when the leader of the moment is done.
    func wantLead() -> Bool {
        self.state.withLock {
            switch $0.lead {
            case .nobody:
                $0.lead = .storeThread
                return true
            case .caller:
                $0.isWanted = true
                return false
            case .storeThread:
                return true
            }
        }
    }

    /// Whether the lead has been handed to the store's thread.
    var isStoreThreadLeading: Bool {
        self.state.withLock {
            switch $0.lead {
            case .storeThread: true
            case .nobody, .caller: false
            }
        }
    }

    /// Gives the lead up unless something waits.
    func giveUpLead() -> Bool {
        self.state.withLock {
            guard $0.waiting.isEmpty else { return false }
            $0.lead = .nobody
            $0.isWanted = false
            return true
        }
    }

    private func leadAsCaller(with committer: any Committer) {
        committer.commitWaiting(in: self)
        // The caller's own is done now, or given up: others are the store's thread's.
        let isHandedOver = self.state.withLock {
            let isHandedOver = $0.isWanted || !$0.waiting.isEmpty
            $0.lead = isHandedOver ? .storeThread : .nobody
            return isHandedOver
        }
        if isHandedOver { committer.wakeStoreThread() }
    }

    /// Returns whether the one who asks now leads, or has made the store's thread lead.
    private func enqueue(_ ticket: any AnyTicket, leader: Lead) -> Bool {
        let (leads, refusal): (Bool, BreakerStoreError?) = self.state.withLock {
            if let refusal = $0.refusal { return (false, refusal) }
            $0.waiting.append(ticket)
            switch $0.lead {
            case .nobody:
                $0.lead = leader
                return (true, nil)
            case .caller, .storeThread:
                return (false, nil)
            }
        }
        if let refusal { ticket.fail(refusal) }
        return leads
    }

    private func giveUp(_ ticket: any AnyTicket) -> BreakerStoreError {
        let error = self.overdue(isTaken: !self.withdraw(ticket))
        ticket.fail(error)
        return error
    }

    /// Takes the ticket back; false if its commit has begun.
    private func withdraw(_ ticket: any AnyTicket) -> Bool {
        self.state.withLock {
            let count = $0.waiting.count
            $0.waiting.removeAll { $0 === ticket }
            guard $0.waiting.count < count else { return false }
            $0.isOverdue = true
            return true
        }
    }

    private func overdue(isTaken: Bool) -> BreakerStoreError {
        BreakerStoreError(
            code: .busy,
            message: isTaken
                ? "the commit had begun but did not end by the deadline, and may yet be done"
                : "the file was in use until the deadline"
        )
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        switch self {
        case .success: false
        case .failure: true
        }
    }
}
