@testable import BreakerStore

/// A circuit in the plainest words of the design, to compare the real one with.
///
/// It keeps every failure since the last change of the rules and works everything out anew each time.
struct ReferenceModel {
    enum Phase: Equatable { case closed, open, halfOpen }
    enum Verdict: Equatable {
        case nothing
        case forgotten
        case tripped
        case reopened
        case closed
    }
    enum Leave: Equatable {
        case counted(epoch: Epoch)
        case uncounted
        case probe(epoch: Epoch)
        case refused(RefusalCause, until: Int64?)
    }
    struct Failure {
        var at: Int64
        var worker: WorkerID
        var sequence: Int64
    }
    struct Slot {
        var token: Int64
        var worker: WorkerID
        var end: Int64
    }

    var rules: Rules
    var phase = Phase.closed
    /// When the circuit last started over.
    var clearedAt: Int64 = .min
    var due: Int64 = 0
    var successes = 0
    var probeFailures = 0
    var trips = 0
    var epoch: Epoch
    var allFailures: [Failure] = []
    /// Those that were left when the last failure had been taken in.
    var remembered: [Failure] = []
    var lastSuccess: Int64?
    var slots: [Slot] = []
    var held: HoldState?
    var heldUntil: Int64?
    /// Who lives; the dead never come back.
    var living: Set<WorkerID> = []

    init(rules: Rules, now: Int64) {
        self.rules = rules
        self.epoch = Epoch(now)
    }

    // MARK: - What can be asked

    /// Time has passed: holds and leases end, and the slots of the dead are free.
    mutating func timePassed(_ now: Int64) {
        if let end = self.heldUntil, end <= now {
            self.held = nil
            self.heldUntil = nil
        }
        self.slots = self.slots.filter { now < $0.end && self.living.contains($0.worker) }
    }

    func count(_ now: Int64) -> Int {
        self.remembered.count { self.isInWindow($0, now) }
    }

    /// What a call gets; nil: a slot.
    func leave(_ now: Int64) -> Leave? {
        if self.held == .open { return .refused(.held, until: self.heldUntil) }
        if self.held == .closed { return .uncounted }
        switch self.phase {
        case .closed: return .counted(epoch: self.epoch)
        case .open: return now < self.due ? .refused(.open, until: self.due) : nil
        case .halfOpen: return self.slots.count < self.probesAtATime ? nil : .refused(.probing, until: nil)
        }
    }

    // MARK: - Calls

    mutating func callArrived(_ now: Int64, token: Int64, worker: WorkerID) -> Leave {
        if let leave = self.leave(now) { return leave }
        if self.phase == .open { self.change(to: .halfOpen, now) }
        self.slots.append(Slot(token: token, worker: worker, end: now + self.rules.lease))
        return .probe(epoch: self.epoch)
    }

    mutating func callFailed(
        _ failure: Failure, epoch: Epoch, outage: Outage? = nil, _ now: Int64
    ) -> Verdict {
        var failure = failure
        if failure.at > now { failure.at = now }
        guard self.held == nil else { return .nothing }
        guard epoch == self.epoch, self.phase == .closed else {
            return self.lateOutage(outage, of: failure.at, now, isInEpoch: epoch == self.epoch)
        }
        func isSame(_ other: Failure) -> Bool { other.worker == failure.worker && other.sequence == failure.sequence }
        if self.remembered.contains(where: isSame) { return .nothing }
        if self.isConsecutive, let success = self.lastSuccess, failure.at < success { return .nothing }
        // One that was dropped and comes again counts no second time, but it too is an occasion to drop others.
        self.allFailures.removeAll(where: isSame)
        self.allFailures.append(failure)

        // The rule, over all the failures there ever were.
        let counting = self.allFailures.filter { self.isInWindow($0, now) }
        let end = outage.map { failure.at + ($0.time.map(self.outageTime) ?? self.rules.timeout) }
        let isDown = end.map { now < $0 } ?? false
        let reporting = isDown ? counting + [failure] : counting
        if isDown
            || counting.count >= self.threshold && self.reporters(of: reporting) >= self.rules.minimumReporters
        {
            self.remembered = (self.remembered + [failure]).filter { self.isInWindow($0, now) }
            self.trip(now, until: isDown && outage?.time != nil ? end : nil)
            return .tripped
        }
        // What is to be remembered: the newest that can trip, and the newest of each reporter.
        let newestFirst = counting.sorted {
            ($0.at, $0.worker, $0.sequence) > ($1.at, $1.worker, $1.sequence)
        }
        var remembered = Array(newestFirst.prefix(self.threshold))
        let counted = self.counted(
            among: self.remembered.filter { self.isInWindow($0, now) } + reporting.filter { isSame($0) })
        var seen: [WorkerID?] = []
        for (index, failure) in newestFirst.enumerated() where counted.isEmpty || counted.contains(failure.worker) {
            let reporter = counted.isEmpty ? nil : failure.worker
            if seen.contains(reporter) { continue }
            seen.append(reporter)
            if index >= self.threshold { remembered.append(failure) }
        }
        self.remembered = remembered
        return .nothing
    }

    mutating func callSucceeded(_ ended: Int64, epoch: Epoch, _ now: Int64) -> Verdict {
        guard epoch == self.epoch, self.held == nil, self.phase == .closed, self.isConsecutive else { return .nothing }
        let ended = min(ended, now)
        guard self.remembered.contains(where: { $0.at <= ended }) else { return .nothing }
        self.allFailures = self.allFailures.filter { $0.at > ended }
        self.remembered = self.remembered.filter { $0.at > ended }
        self.lastSuccess = max(self.lastSuccess ?? ended, ended)
        return .forgotten
    }

    // MARK: - Probes

    mutating func probeSucceeded(token: Int64, epoch: Epoch, _ now: Int64) -> Verdict {
        guard self.takeSlot(token, epoch) else { return .nothing }
        self.successes += 1
        guard self.successes >= self.rules.probes.successesToClose else { return .nothing }
        self.change(to: .closed, now)
        self.clearedAt = now
        self.forget()
        return .closed
    }

    mutating func probeFailed(token: Int64, epoch: Epoch, outage: Outage? = nil, _ now: Int64) -> Verdict {
        guard self.takeSlot(token, epoch) else {
            guard self.held == nil, self.phase != .closed || epoch != self.epoch else { return .nothing }
            return self.lateOutage(outage, of: now, now, isInEpoch: epoch == self.epoch)
        }
        self.probeFailures += 1
        if outage == nil, self.probeFailures <= self.failuresAllowed { return .nothing }
        let time = outage?.time.map(self.outageTime) ?? 0
        self.trip(now, until: time > 0 ? now + time : nil)
        return .reopened
    }

    /// A declared outage counts also when it comes late.
    ///
    /// All ends of these tests are within a second, so an open circuit never stays open for longer.
    private mutating func lateOutage(_ outage: Outage?, of ended: Int64, _ now: Int64, isInEpoch: Bool) -> Verdict {
        guard let time = outage?.time, self.phase != .open else { return .nothing }
        guard isInEpoch || ended >= self.clearedAt else { return .nothing }
        let end = ended + self.outageTime(time)
        guard end > now else { return .nothing }
        let wasClosed = self.phase == .closed
        self.trip(now, until: end)
        return wasClosed ? .tripped : .reopened
    }

    mutating func probeReleased(token: Int64, epoch: Epoch) {
        _ = self.takeSlot(token, epoch)
    }

    // MARK: - Operators

    mutating func reset(_ now: Int64) {
        self.held = nil
        self.heldUntil = nil
        self.change(to: .closed, now)
        self.clearedAt = now
        self.forget()
    }

    mutating func hold(_ state: HoldState, until: Int64?, _ now: Int64) {
        if self.phase == .halfOpen {
            self.due = now
            self.change(to: .open, now)
        } else {
            self.change(to: self.phase, now)
        }
        self.held = state
        self.heldUntil = until
    }

    mutating func release(_ now: Int64) -> Bool {
        guard self.held != nil else { return false }
        self.held = nil
        self.heldUntil = nil
        self.change(to: self.phase, now)
        return true
    }

    mutating func allowProbes(_ now: Int64) -> Bool {
        guard self.held == nil, self.phase == .open, now < self.due else { return false }
        self.due = now
        self.clearedAt = now
        self.change(to: .open, now)
        return true
    }

    mutating func configure(_ rules: Rules) {
        self.allFailures = self.allFailures.filter { failure in
            self.remembered.contains { $0.worker == failure.worker && $0.sequence == failure.sequence }
        }
        self.rules = rules
    }

    // MARK: - Inside

    /// Success by success: the last one of a round lets the next, larger round begin.
    private var probesAtATime: Int {
        var size = self.rules.probes.limit
        var left = size
        for _ in 0..<self.successes {
            left -= 1
            if left > 0 { continue }
            size = min(size * self.rules.probes.growth, 10_000)
            left = size
        }
        return size
    }

    private var failuresAllowed: Int {
        Int(self.rules.probes.toleratedShare * Double(self.rules.probes.successesToClose) + 1e-9)
    }

    /// How long a service that names this time is left alone.
    private func outageTime(_ named: Int64) -> Int64 {
        if named < 0 { return 0 }
        let most = self.rules.recovery.outageCap.saturatingMicroseconds
        return named > most ? most : named
    }

    private mutating func trip(_ now: Int64, until end: Int64?) {
        var wait = Double(self.rules.timeout)
        for _ in 0..<self.trips { wait = min(wait * self.rules.recovery.multiplier, Double(self.rules.cap)) }
        self.due = end ?? now + Int64(max(wait, Double(self.rules.timeout)))
        self.trips += 1
        self.change(to: .open, now)
    }

    /// The longest that jitter may make of a wait until `due`.
    func latestDue(_ now: Int64) -> Int64 {
        self.due + Int64((Double(self.due - now) * self.rules.recovery.jitter).rounded(.up))
    }

    private mutating func change(to phase: Phase, _ now: Int64) {
        self.phase = phase
        self.epoch = max(self.epoch.adding(1), Epoch(now))
        self.slots = []
        self.successes = 0
        self.probeFailures = 0
    }

    private mutating func forget() {
        self.allFailures = []
        self.remembered = []
        self.lastSuccess = nil
        self.trips = 0
    }

    private mutating func takeSlot(_ token: Int64, _ epoch: Epoch) -> Bool {
        guard epoch == self.epoch, self.slots.contains(where: { $0.token == token }) else { return false }
        self.slots = self.slots.filter { $0.token != token }
        return true
    }

    private func reporters(of failures: [Failure]) -> Int {
        max(failures.isEmpty ? 0 : 1, self.counted(among: failures).count)
    }

    /// The workers that live; all, if there are too few of them in any case.
    private func counted(among failures: [Failure]) -> Set<WorkerID> {
        let workers = Set(failures.map(\.worker))
        return workers.count < self.rules.minimumReporters ? workers : workers.intersection(self.living)
    }

    private func isInWindow(_ failure: Failure, _ now: Int64) -> Bool {
        switch self.rules.trip.kind {
        case .failures(_, let window): now - failure.at <= window.saturatingMicroseconds
        case .consecutiveFailures, .failureRate, .unknown: true
        }
    }

    private var isConsecutive: Bool {
        switch self.rules.trip.kind {
        case .failures, .failureRate, .unknown: false
        case .consecutiveFailures: true
        }
    }

    private var threshold: Int {
        switch self.rules.trip.kind {
        case .failures(let count, _): count
        case .consecutiveFailures(let count): count
        case .failureRate, .unknown: .max
        }
    }
}
