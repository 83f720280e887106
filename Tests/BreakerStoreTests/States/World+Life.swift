import FoundationEssentials

@testable import BreakerStore

/// What a store does with its life, as `StoreCore` and `Writer` do.
extension World {
    /// Tells the life what happened, and does what the life asks for.
    @discardableResult
    mutating func apply<Decision>(
        _ process: Int, _ event: (inout StoreLife) -> (Decision, StoreLife.Actions)
    ) -> Decision {
        let (decision, actions) = event(&self.processes[process].life)
        if self.plant != .gatesShutTooLate { self.gatesFollow(process) }
        if self.plant != .lossForgetsTickets {
            for case let ticket as WorldTicket in actions.failed { self.fails(ticket, process) }
        }
        self.gatesFollow(process)
        if actions.wakesThread, self.plant != .threadNeverWoken { self.processes[process].isThreadAwake = true }
        return decision
    }

    /// The same where the life asks for nothing.
    @discardableResult
    mutating func asked<Answer>(_ process: Int, _ question: (inout StoreLife) -> Answer) -> Answer {
        self.apply(process) { (question(&$0), StoreLife.Actions()) }
    }

    private mutating func gatesFollow(_ process: Int) {
        self.processes[process].gatesAreOpen = self.processes[process].life.opensGates
    }

    mutating func loses(_ process: Int) {
        let loss = self.loss
        self.apply(process) { ((), $0.lost(loss)) }
    }

    private var loss: StoreLife.Loss {
        StoreLife.Loss(
            since: Date(timeIntervalSince1970: 0), error: BreakerStoreError(code: .full, message: "lost"))
    }

    // MARK: - Tickets

    mutating func submit(_ ticket: WorldTicket, _ process: Int) {
        switch self.apply(process, { $0.submitted(ticket, by: ticket.submitter) }) {
        case .refuse: self.fails(ticket, process)
        case .lead:
            self.processes[process].leaders.append(Leader(role: .caller))
        case .wait:
            if self.plant == .twoLead { self.processes[process].leaders.append(Leader(role: .caller)) }
        }
    }

    /// A caller hears that its change failed.
    mutating func fails(_ ticket: WorldTicket, _ process: Int) {
        guard self.isWaited(ticket, process) else { return }
        if self.processes[process].gatesAreOpen || self.processes[process].life.isHealthy {
            self.breaks(.gates, "a caller of process \(process + 1) hears of a failure in a store that seems healthy")
        }
        self.callHears(ticket, process)
        if ticket.input != nil, !self.processes[process].life.isClosed { self.processes[process].kept.append(ticket) }
    }

    /// A caller hears that its change is made.
    ///
    /// - Parameter leave: what a claim has got.
    mutating func succeeds(_ ticket: WorldTicket, _ leave: Leave?, _ process: Int) {
        guard self.isWaited(ticket, process) else {
            // The caller of a claim has given up.
            if let leave, leave.probe != nil, self.plant != .slotNotGivenBack { self.giveBack(leave, process) }
            return
        }
        if !self.expected.committed.contains(ticket.number) {
            self.breaks(.acknowledged, "process \(process + 1) acknowledges what is not committed")
        }
        let number = self.callHears(ticket, process)
        guard let leave, let number else { return }
        self.processes[process].calls.append(Call(number: number, leave: leave))
    }

    /// Whether the ticket has no outcome yet.
    private func isWaited(_ ticket: WorldTicket, _ process: Int) -> Bool {
        !ticket.hasCaller || self.processes[process].calls.contains { $0.ticket === ticket }
    }

    /// The caller waits no longer; returns its call's number.
    @discardableResult
    private mutating func callHears(_ ticket: WorldTicket, _ process: Int) -> Int? {
        let index = self.processes[process].calls.firstIndex { $0.ticket === ticket }
        return index.map { self.processes[process].calls.remove(at: $0).number }
    }

    private mutating func giveBack(_ leave: Leave, _ process: Int) {
        guard let token = leave.probe else { return }
        let input = OutcomeReport.probeEnded(self.report(of: leave, process), .ignored, token: token)
        self.submit(WorldTicket(self.newNumber(), due: self.now + 1, input, leave, by: .nobody), process)
    }

    /// Tells the file the reports that were kept for it.
    private mutating func tellKept(_ process: Int) {
        let kept = self.processes[process].kept
        self.processes[process].kept = []
        for ticket in kept {
            var input = ticket.input
            if let at = input?.failure?.at, self.plant != .reportToldAgainAsNew { input = input?.again(endedAt: at) }
            self.submit(WorldTicket(self.newNumber(), due: self.now + 1, input, ticket.leave, by: .nobody), process)
        }
    }

    // MARK: - The leader

    /// The leader goes on by one step.
    mutating func leads(_ process: Int, _ index: Int, pendingFrames: Int = 0, isCommitUnknown: Bool = false) {
        var leader = self.processes[process].leaders[index]
        switch leader.stage {
        case .begins: self.begins(&leader, process)
        case .waitsForLock: self.locks(&leader, process)
        case .hasLock(let tickets): self.commits(tickets, isUnknown: isCommitUnknown, &leader, process)
        case .hasCommitted(let round):
            let loss = round.isLost ? self.loss : nil
            self.apply(process) { ((), $0.commitEnded(loss, pendingFrames: pendingFrames)) }
            for (ticket, leave) in round.done { self.succeeds(ticket, leave, process) }
            for ticket in round.failed { self.fails(ticket, process) }
            leader.stage = .ends
        case .ends: self.ends(&leader, process)
        case .isOver: break
        }
        self.processes[process].leaders[index] = leader
        if case .isOver = leader.stage { self.processes[process].leaders.remove(at: index) }
    }

    private mutating func begins(_ leader: inout Leader, _ process: Int) {
        switch leader.role {
        case .thread, .leavingThread:
            self.asked(process) { $0.claimDueCheckpoint() }
        case .caller, .reader: break
        }
        guard self.asked(process, { $0.startRound() }) else {
            leader.stage = .ends
            return
        }
        self.locks(&leader, process)
    }

    private mutating func locks(_ leader: inout Leader, _ process: Int) {
        guard self.lockedBy == nil else {
            let (loss, now) = (self.loss, self.instant)
            let givesUp = self.apply(process) { $0.handleBusyFile(loss, at: now) }
            leader.stage = givesUp ? .hasCommitted(Round(isLost: true)) : .waitsForLock
            return
        }
        self.lockedBy = process
        let taken = self.asked(process) { $0.fileLocked() }
        let tickets = taken.compactMap { $0 as? WorldTicket }
        leader.stage = .hasLock(tickets)
        if self.plant == .acknowledgedBeforeCommit { for ticket in tickets { self.succeeds(ticket, nil, process) } }
    }

    private mutating func commits(
        _ tickets: [WorldTicket], isUnknown: Bool, _ leader: inout Leader, _ process: Int
    ) {
        self.lockedBy = nil
        var round = Round()
        if self.processes[process].canWrite {
            if self.plant == .staleCircuitWritten { self.file = self.processes[process].remembered }
            round.done = tickets.map { ($0, self.perform($0, process)) }
            self.processes[process].remembered = self.file
        }
        if isUnknown || !self.processes[process].canWrite {
            round = Round(failed: self.plant == .takenTicketsForgotten ? [] : tickets, isLost: true)
        }
        leader.stage = .hasCommitted(round)
    }

    private mutating func ends(_ leader: inout Leader, _ process: Int) {
        let goesOn: Bool
        switch leader.role {
        case .caller, .reader:
            self.apply(process) { ((), $0.leadEnded()) }
            goesOn = false
        case .thread: goesOn = !self.asked(process) { $0.releaseLeadIfIdle() }
        case .leavingThread:
            goesOn = !self.processes[process].life.waiting.isEmpty
            if !goesOn {
                self.apply(process) { ((), $0.closed()) }
                self.processes[process].hasThreadEnded = true
                self.processes[process].kept = []
            }
        }
        leader.stage = goesOn ? .begins : .isOver
    }

    // MARK: - The thread

    mutating func threadRuns(_ process: Int) {
        let now = self.instant
        self.processes[process].isThreadAwake = true
        switch self.apply(process, { $0.nextThreadWork(at: now) }) {
        case .syncLog: break
        case .lead: self.processes[process].leaders.append(Leader(role: .thread))
        case .recover:
            if self.processes[process].canWrite,
                self.asked(process, { $0.recovered() }) != nil
            {
                self.tellKept(process)
            }
            self.processes[process].leaders.append(Leader(role: .thread))
        case .maintenance:
            if !self.processes[process].canWrite { return self.loses(process) }
            let loss = self.loss
            _ = self.apply(process) { $0.handleBusyFile(loss, at: now) }
            self.tellKept(process)
        case .finish: self.processes[process].leaders.append(Leader(role: .leavingThread))
        case .sleep(let until):
            self.processes[process].isThreadAwake = false
            self.processes[process].threadSleepsUntil = until.map(Self.seconds)
        }
    }
}
