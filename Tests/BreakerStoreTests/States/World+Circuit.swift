@testable import BreakerStore

/// The committed circuit, and what it is held against.
extension World {
    /// What the circuit must be like, told from what was done to it, not from its own words.
    struct Expected {
        /// Rises with each change of state and each word of an operator: results from before come too late.
        var windowGeneration = 0
        /// The failures that count, committed in this window generation.
        var failures: [Circuit.Failure] = []
        /// Failures before it were forgotten by a success.
        var forgottenUntil = StoreTime(microseconds: .min)
        /// The end of the hold in force.
        var heldUntil: Int?
        /// The numbers of the tickets that were committed.
        var committed: Set<Int> = []

        mutating func generationEnds() {
            self.windowGeneration += 1
            self.failures = []
            self.forgottenUntil = StoreTime(microseconds: .min)
        }
    }

    /// Changes the circuit, as a transaction does, and judges the change.
    ///
    /// - Parameter isWord: whether an operator has said it.
    @discardableResult
    mutating func change<Result>(
        isWord: Bool = false, _ event: (inout Circuit, FailureList) -> Result
    ) -> Result {
        let before = self.file.circuit
        let (plant, now) = (self.plant, self.time)
        var file = self.file
        let (result, events) = file.apply(at: now) { circuit, failures in
            let result = event(&circuit, failures)
            var events = circuit.drainTransitions()
            plant?.spoil(&circuit, before, &events, at: now)
            return (result, events)
        }
        self.file = file
        let trips = before.state.word == "closed" && file.circuit.state.word == "open" ? 1 : 0
        let told = events.filter { $0.kind == .tripped }.count
        if told != trips { self.breaks(.oneTrip, "\(told) events for \(trips) trips") }
        if before.state.word != file.circuit.state.word || isWord { self.expected.generationEnds() }
        return result
    }

    /// Makes a ticket's change; returns what a claim gets, nil if no leave.
    mutating func perform(_ ticket: WorldTicket, _ process: Int) -> Leave? {
        self.expected.committed.insert(ticket.number)
        let moment = Moment(now: self.time)
        guard let input = ticket.input else { return self.claim(ticket, process, at: moment) }
        let before = self.file
        let (windowGeneration, plant) = (self.expected.windowGeneration, self.plant)
        let action = self.change { circuit, failures in
            Self.apply(input, to: &circuit, at: moment, failures, plant)
        }
        if ticket.leave.windowGeneration != windowGeneration || ticket.leave.ends <= self.now {
            if action != .stale || before.circuit.state != self.file.circuit.state
                || before.failures.failures != self.file.failures.failures
            {
                self.breaks(.late, "a report of process \(process + 1) is taken as \(action)")
            }
        } else if windowGeneration == self.expected.windowGeneration {
            self.expect(input)
        }
        return nil
    }

    private mutating func claim(_ ticket: WorldTicket, _ process: Int, at moment: Moment) -> Leave? {
        let claim = Circuit.Claim(token: Int64(ticket.number), worker: self.processes[process].worker)
        let isAlive = self.isAlive
        let admission = self.change { circuit, _ in
            circuit.callArrived(at: moment, claiming: claim, isAlive: isAlive)
        }
        switch admission {
        case .proceed(let epoch): return Leave(epoch: epoch, windowGeneration: self.expected.windowGeneration)
        case .probe(let token, let epoch):
            return Leave(
                epoch: epoch, probe: token, ends: self.now + 1, windowGeneration: self.expected.windowGeneration)
        case .uncounted, .observe, .refuse: return nil
        }
    }

    private static func apply(
        _ input: OutcomeReport, to circuit: inout Circuit, at moment: Moment, _ failures: FailureList, _ plant: Plant?
    ) -> Circuit.ReportAction {
        var input = input
        if plant == .epochOfReportIgnored, case .failed(var report) = input {
            report.epoch = circuit.epoch
            input = .failed(report)
        }
        if plant == .leaseOfProbeIgnored, case .probeEnded = input {
            for index in circuit.probes.indices { circuit.probes[index].leaseEnds = moment.now.adding(1) }
        }
        let action = circuit.apply(
            input, at: moment, among: failures, claiming: { Circuit.Claim(token: $0, worker: 0) })
        if plant == .failureNotKept, case .failed = input { _ = circuit.drainFailureChanges() }
        return action
    }

    /// Notes what a result that came in time must have done where the state has not changed.
    private mutating func expect(_ input: OutcomeReport) {
        switch input {
        case .failed(let report):
            let failure = Circuit.Failure(at: report.at, worker: report.worker, sequence: report.sequence)
            let counts = failure.at >= self.countedSince && failure.at >= self.expected.forgottenUntil
            if counts, !self.expected.failures.contains(failure) { self.expected.failures.append(failure) }
        case .succeeded(let report):
            self.expected.failures.removeAll { $0.at <= report.at }
            self.expected.forgottenUntil = max(self.expected.forgottenUntil, report.at)
        case .probeEnded, .failedUnread, .recorded: break
        }
    }

    /// From when on failures count.
    var countedSince: StoreTime { self.file.circuit.startOfCounting(at: self.time) ?? StoreTime(microseconds: .min) }

    // MARK: - The promises

    /// Holds the state against the promises.
    mutating func check() {
        if self.expected.heldUntil.map({ $0 <= self.now }) ?? false { self.expected.heldUntil = nil }
        let since = self.countedSince
        self.expected.failures.removeAll { $0.at < since }
        for (number, process) in self.processes.enumerated() where process.leaders.count > 1 {
            self.breaks(.oneLeader, "\(process.leaders.count) lead in process \(number + 1)")
        }
        self.checkFailures()
        self.checkProbes()
    }

    private mutating func checkFailures() {
        let circuit = self.file.circuit
        let kept = self.file.failures.failures
        let isHeld = circuit.hold(at: self.time) != nil
        if isHeld != (self.expected.heldUntil != nil) { self.breaks(.held, isHeld ? "it is held" : "it is not held") }
        if Set(kept).count < kept.count { self.breaks(.once, "\(kept)") }
        guard case .closed = circuit.state, !isHeld else { return }
        if let lost = self.expected.failures.first(where: { !kept.contains($0) }) {
            self.breaks(.acknowledged, "\(lost) is not in the file")
        }
        if self.expected.failures.count >= circuit.rules.threshold {
            self.breaks(.acknowledged, "\(self.expected.failures.count) failures, and closed")
        }
    }

    private mutating func checkProbes() {
        let circuit = self.file.circuit
        let limit = self.bounds.rules.probes.limit
        let running = self.processes.flatMap(\.probes).filter { self.isLive($0) }
        if running.count > limit { self.breaks(.probes, "\(running.count) run") }
        // A store that closes gives back no slot: its worker leaves the file, or the lease ends.
        guard !self.processes.contains(where: { $0.life.isClosed && !$0.hasThreadEnded }) else { return }
        let all = self.processes.flatMap { $0.probes + $0.probesGivenBack }
        let known = Set(all.filter(self.isLive).compactMap(\.probe))
        let living = self.living
        let held = circuit.liveProbes(at: self.time) { living.contains($0) }
        if let probe = held.first(where: { !known.contains($0.token) }) {
            self.breaks(.slots, "nobody will give back the slot of \(probe)")
        }
        guard case .halfOpen = circuit.state, circuit.hold(at: self.time) == nil, known.count < limit else { return }
        if circuit.answer(at: self.time, isAlive: self.isAlive) != .claim {
            self.breaks(.probedAgain, "\(known.count) of \(limit) slots are taken, and a call gets none")
        }
    }

    private func isLive(_ leave: Leave) -> Bool {
        leave.windowGeneration == self.expected.windowGeneration && self.now < leave.ends
    }
}

extension World.Process {
    /// The probes that run, or that will as soon as their callers hear.
    var probes: [World.Leave] {
        let heard = self.calls.filter { $0.ticket == nil && $0.leave.probe != nil }.map(\.leave)
        return heard + self.rounds.flatMap { $0.done.compactMap(\.leave).filter { $0.probe != nil } }
    }

    /// The probes whose ends are to be committed.
    var probesGivenBack: [World.Leave] { (self.tickets + self.kept).map(\.leave).filter { $0.probe != nil } }

    var rounds: [World.Round] {
        self.leaders.compactMap { leader in
            if case .hasCommitted(let round) = leader.stage { round } else { nil }
        }
    }

    /// The tickets that have no outcome yet.
    var tickets: [WorldTicket] {
        var tickets = self.life.waiting.compactMap { $0 as? WorldTicket }
        for leader in self.leaders { if case .hasLock(let taken) = leader.stage { tickets += taken } }
        return tickets + self.rounds.flatMap { $0.done.map(\.ticket) + $0.failed }
    }
}
