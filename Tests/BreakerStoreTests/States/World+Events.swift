@testable import BreakerStore

/// What may happen next, and what happens then.
extension World {
    /// All that may happen next.
    var events: [WorldEvent] {
        var events: [WorldEvent] = []
        func add(_ kind: WorldEvent.Kind, _ process: Int? = nil, _ index: Int = 0, by: StoreLife.Submitter = .thread) {
            guard kind.isProgress || self.bounds.kinds.contains(kind) else { return }
            events.append(WorldEvent(kind: kind, process: process, index: index, by: by))
        }
        let underWay = self.processes.reduce(0) { $0 + $1.underWay }
        for (number, process) in self.processes.enumerated() {
            guard process.isAlive else {
                add(.starts, number)
                continue
            }
            add(.isKilled, number)
            guard !process.isStopped else {
                add(.goesOn, number)
                continue
            }
            add(.isStopped, number)
            add(process.canWrite ? .losesFile : .findsFile, number)
            if process.life.isHealthy, process.underWay < self.bounds.calls.each, underWay < self.bounds.calls.all {
                for submitter in self.bounds.submitters where submitter != .nobody {
                    add(.calls, number, by: submitter)
                }
            }
            for (index, call) in process.calls.enumerated() {
                guard let ticket = call.ticket else {
                    for submitter in self.bounds.submitters {
                        for kind in [WorldEvent.Kind.good, .bad, .ignored] { add(kind, number, index, by: submitter) }
                    }
                    continue
                }
                if ticket.due <= self.now, self.plant != .taskNotWoken || ticket.submitter == .thread {
                    add(.givesUp, number, index)
                }
            }
            for (index, leader) in process.leaders.enumerated() where !leader.hangs {
                add(.leads, number, index)
                switch leader.stage {
                case .hasLock(let tickets):
                    add(.hangs, number, index)
                    // Nobody would know the slot of a probe whose claim was told to have failed, until its lease ends.
                    if tickets.allSatisfy({ $0.input != nil }) { add(.unknownCommit, number, index) }
                case .hasCommitted: add(.longLog, number, index)
                case .begins, .waitsForLock, .ends, .isOver: break
                }
            }
            if process.threadIsFree(at: self.now) { add(.threadRuns, number) }
            if process.life.isHealthy { add(.looks, number) }
            if !process.life.isClosed { add(.closes, number) }
        }
        add(.timePasses)
        guard self.lockedBy == nil else { return events }
        for kind in [WorldEvent.Kind.reset, .heldOpen, .heldOpenForTime, .heldClosed, .forgotten] { add(kind) }
        if self.expected.heldUntil != nil {
            add(.released)
        } else if case .open(let until) = self.file.circuit.state, self.time < until {
            add(.probeAllowed)
        }
        return events
    }

    mutating func happen(_ event: WorldEvent) {
        if let process = event.process {
            self.happen(event, to: process)
            if self.bounds.isAtomic { self.settle(process) }
        } else if event.kind == .timePasses {
            self.now += 1
        } else {
            self.operate(event.kind)
        }
        self.check()
    }

    private mutating func happen(_ event: WorldEvent, to process: Int) {
        switch event.kind {
        case .calls: self.callArrives(process, by: event.by)
        case .good: self.callEnds(process, event.index, .success, by: event.by)
        case .bad: self.callEnds(process, event.index, .failure, by: event.by)
        case .ignored: self.callEnds(process, event.index, .ignored, by: event.by)
        case .givesUp: self.callGivesUp(process, event.index)
        case .leads: self.leads(process, event.index)
        case .longLog: self.leads(process, event.index, pendingFrames: StoreLife.framesBeforeWaiting)
        case .unknownCommit: self.leads(process, event.index, isCommitUnknown: true)
        case .hangs: self.processes[process].leaders[event.index].hangs = true
        case .threadRuns: self.threadRuns(process)
        case .looks:
            if self.asked(process, { $0.acquireLeadForRead() }) {
                self.processes[process].leaders.append(Leader(role: .reader, stage: .ends))
            }
        case .losesFile: self.processes[process].canWrite = false
        case .findsFile: self.processes[process].canWrite = true
        case .isKilled:
            if self.lockedBy == process { self.lockedBy = nil }
            self.processes[process] = self.newProcess()
            self.processes[process].isAlive = false
        case .starts: self.processes[process] = self.newProcess()
        case .isStopped: self.processes[process].isStopped = true
        case .goesOn: self.processes[process].isStopped = false
        case .closes:
            let deadline = Deadline(at: Self.instant(self.now + 1))
            self.apply(process) { ((), $0.closeRequested(until: deadline)) }
        case .timePasses, .reset, .heldOpen, .heldOpenForTime, .heldClosed, .released, .probeAllowed, .forgotten: break
        }
    }

    /// Lets the process do all that it does by itself.
    private mutating func settle(_ process: Int) {
        for _ in 0..<20 {
            if !self.processes[process].leaders.isEmpty {
                self.leads(process, 0)
            } else if self.processes[process].threadIsFree(at: self.now) {
                self.threadRuns(process)
            } else {
                return
            }
        }
        self.breaks(.ends, "process \(process + 1) never comes to rest")
    }

    // MARK: - Calls

    private mutating func callArrives(_ process: Int, by submitter: StoreLife.Submitter) {
        switch self.file.circuit.answer(at: self.time, isAlive: self.isAlive) {
        case .proceed:
            let leave = Leave(epoch: self.file.circuit.epoch, windowGeneration: self.expected.windowGeneration)
            self.processes[process].calls.append(Call(number: self.newNumber(), leave: leave))
        case .claim:
            let ticket = WorldTicket(self.newNumber(), due: self.now + 1, nil, Leave(), by: submitter)
            self.processes[process].calls.append(Call(number: self.newNumber(), ticket: ticket))
            self.submit(ticket, process)
        // The call runs uncounted, or does not run: nothing follows.
        case .uncounted, .refuse, .observe: break
        }
    }

    private mutating func callEnds(
        _ process: Int, _ index: Int, _ verdict: Verdict, by submitter: StoreLife.Submitter
    ) {
        let call = self.processes[process].calls[index]
        guard let input = self.input(verdict, of: call.leave, process) else {
            self.processes[process].calls.remove(at: index)
            return
        }
        let ticket = WorldTicket(self.newNumber(), due: self.now + 1, input, call.leave, by: submitter)
        if ticket.hasCaller {
            self.processes[process].calls[index].ticket = ticket
        } else {
            self.processes[process].calls.remove(at: index)
        }
        self.submit(ticket, process)
    }

    /// What is to be committed of a call's end; nil if nothing is.
    private mutating func input(_ verdict: Verdict, of leave: Leave, _ process: Int) -> OutcomeReport? {
        if let token = leave.probe { return .probeEnded(self.report(of: leave, process), verdict, token: token) }
        let report = self.report(of: leave, process)
        switch verdict {
        case .failure, .outage: return .failed(report)
        case .success:
            let mayForget = self.bounds.rules.isConsecutive && !self.file.failures.failures.isEmpty
            return mayForget ? .succeeded(report) : nil
        case .ignored: return nil
        }
    }

    mutating func report(of leave: Leave, _ process: Int) -> Report {
        Report(
            worker: self.processes[process].worker, sequence: Int64(self.newNumber()), epoch: leave.epoch,
            at: self.time)
    }

    private mutating func callGivesUp(_ process: Int, _ index: Int) {
        guard let ticket = self.processes[process].calls[index].ticket else { return }
        self.asked(process) { $0.waiterGaveUp(ticket) }
        self.loses(process)
        self.fails(ticket, process)
    }

    // MARK: - Operators

    private mutating func operate(_ kind: WorldEvent.Kind) {
        let now = self.time
        switch kind {
        case .reset:
            self.change(isWord: true) { circuit, _ in circuit.reset(at: now, reason: nil) }
            self.expected.heldUntil = nil
        case .heldOpen: self.hold(.open, for: nil)
        case .heldOpenForTime: self.hold(.open, for: 1)
        case .heldClosed: self.hold(.closed, for: nil)
        case .released:
            _ = self.change(isWord: true) { circuit, _ in circuit.released(at: now, reason: nil) }
            self.expected.heldUntil = nil
        case .probeAllowed:
            _ = self.change(isWord: true) { circuit, _ in circuit.probesAllowed(at: now, reason: nil) }
        case .forgotten:
            // Whoever uses the circuit next registers it again.
            let floor = self.plant == .epochFloorForgotten ? 0 : self.file.circuit.epoch.adding(1)
            self.file = CircuitInMemory(Circuit(rules: self.bounds.rules, at: now, epochFloor: floor))
            self.expected.generationEnds()
            self.expected.heldUntil = nil
        case .calls, .good, .bad, .ignored, .givesUp, .leads, .threadRuns, .looks, .unknownCommit,
            .longLog, .hangs, .losesFile, .findsFile, .isKilled, .starts, .isStopped, .goesOn, .closes, .timePasses:
            break
        }
    }

    private mutating func hold(_ state: HoldState, for seconds: Int?) {
        let now = self.time
        let time = seconds.map { Int64($0) * Self.second }
        self.change(isWord: true) { circuit, _ in circuit.held(state, for: time, by: nil, reason: nil, at: now) }
        self.expected.heldUntil = seconds.map { self.now + $0 } ?? .max
    }
}

extension World.Process {
    /// The calls, and the reports for which no call waits any longer.
    var underWay: Int { self.calls.count + self.kept.count + self.tickets.count { !$0.hasCaller } }

    /// Whether the store's thread is awake and does not lead.
    func threadIsFree(at now: Int) -> Bool {
        guard !self.hasThreadEnded, self.isThreadAwake || self.threadSleepsUntil.map({ $0 <= now }) ?? false else {
            return false
        }
        return !self.leaders.contains {
            switch $0.role {
            case .thread, .leavingThread: true
            case .caller, .reader: false
            }
        }
    }
}
