@testable import BreakerStore

/// Some workers, calls, probes and an operator, all driven by one seed, on the machine and on the model at once.
struct RandomHistory {
    struct Mismatch: Error, CustomStringConvertible { var description: String }
    struct Call {
        var report: Report
        var failed: Bool
    }
    struct Probe {
        var token: Int64
        var worker: WorkerID
        var epoch: Epoch
    }

    final class Log {
        var lines: [String] = []
    }

    private var random: SplitMix64
    var now: Int64
    var circuit: TestCircuit
    var model: ReferenceModel
    private var living: Set<WorkerID> = [1, 2, 3]
    private var workers: [WorkerID] = [1, 2, 3]
    private var calls: [Call] = []
    /// Ended and not yet reported, or reported once already.
    private var ended: [Call] = []
    private var probes: [Probe] = []
    private var nextNumber: Int64 = 100
    /// What happened, if somebody wants to read it.
    let log: Log?
    /// How often something happened, so that a test can tell that much did.
    var seen: [CircuitEvent.Kind: Int] = [:]

    init(seed: UInt64, logging: Bool = false) {
        self.random = SplitMix64(seed: seed)
        self.now = Int64(self.random.number(in: 0...2_000))
        let rules = Self.rules(&self.random)
        self.circuit = TestCircuit(rules: rules, at: StoreTime(self.now))
        self.model = ReferenceModel(rules: rules, now: self.now)
        self.model.living = self.living
        self.log = logging ? Log() : nil
        self.say("rules \(rules)")
    }

    static func rules(_ random: inout SplitMix64) -> Rules {
        let window = Int64(random.number(in: 5...150))
        var rules = Rules(
            trip: random.chance(65)
                ? .failures(random.number(in: 1...5), window: window)
                : .consecutiveFailures(random.number(in: 1...4)),
            recovery: Int64(random.number(in: 1...60)),
            multiplier: random.pick([1, 1.5, 2]) ?? 1,
            cap: Int64(random.number(in: 1...200)),
            jitter: random.pick([0, 0, 0.5]) ?? 0,
            probeLimit: random.number(in: 1...3),
            successesToClose: random.number(in: 1...3),
            lease: Int64(random.number(in: 3...50)),
            minimumReporters: random.chance(60) ? 1 : random.number(in: 2...4)
        )
        guard random.chance(40) else { return rules }
        rules.probes.successesToClose = random.number(in: 1...10)
        rules.probes.growth = random.number(in: 1...3)
        rules.probes.toleratedShare = random.pick([0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.99]) ?? 0
        return rules
    }

    mutating func run(steps: Int) throws {
        for _ in 0..<steps {
            // Each event meets the circuit as it comes from its rows.
            let (probeFailures, clearedAt) = (self.circuit.probeFailures, self.circuit.clearedAt)
            self.circuit = TestCircuit(
                rules: self.circuit.rules,
                state: self.circuit.state,
                since: self.circuit.since,
                epoch: self.circuit.epoch,
                failures: self.circuit.failures,
                forgottenUntil: self.circuit.forgottenUntil,
                tripsInARow: self.circuit.tripsInARow,
                probes: self.circuit.probes,
                hold: self.circuit.hold,
                lastError: self.circuit.lastError
            )
            self.circuit.probeFailures = probeFailures
            self.circuit.clearedAt = clearedAt
            let before = self.circuit
            self.model.timePassed(self.now)
            try self.step()
            self.model.timePassed(self.now)
            try self.compare(before)
        }
    }

    // MARK: - One step

    private mutating func step() throws {
        switch self.random.number(in: 0...99) {
        case 0..<22: self.passTime()
        case 22..<46: try self.arrive()
        case 46..<60: try self.endACall()
        case 60..<70: try self.reportAgainOrLate()
        case 70..<84: try self.endAProbe()
        case 84..<90: try self.record()
        case 90..<94: self.changeWorkers()
        case 94..<98: try self.operate()
        default: self.configure()
        }
    }

    private mutating func passTime() {
        var edges: [Int64] = []
        switch self.circuit.state {
        case .open(let until): edges.append(until.microseconds)
        case .closed, .halfOpen, .unknown: break
        }
        edges += self.circuit.probes.map(\.leaseEnds.microseconds)
        if let until = self.circuit.hold?.until { edges.append(until.microseconds) }
        switch self.circuit.rules.trip.kind {
        case .failures(_, let window):
            edges += self.circuit.failures.map { $0.at.microseconds + window.saturatingMicroseconds }
        case .consecutiveFailures, .failureRate, .unknown: break
        }
        if self.random.chance(50), let edge = self.random.pick(edges) {
            self.now = max(self.now, edge + Int64(self.random.number(in: -1...1)))
        } else {
            self.now += Int64(self.random.number(in: 0...(self.random.chance(5) ? 500 : 12)))
        }
        self.say("time \(self.now)")
    }

    private mutating func arrive() throws {
        guard let worker = self.random.pick(self.workers) else { return }
        let token = self.number()
        let admission = self.circuit.callArrived(
            at: self.moment(), claiming: Circuit.Claim(token: token, worker: worker), isAlive: self.isAlive)
        let leave = self.model.callArrived(self.now, token: token, worker: worker)
        self.say("call of worker \(worker), token \(token): \(admission)")
        let expected: Circuit.Decision =
            switch leave {
            case .counted(let epoch): .proceed(epoch: epoch)
            case .uncounted: .uncounted
            case .probe(let epoch): .probe(token: token, epoch: epoch)
            case .refused(let cause, let until): .refuse(cause, until: until.map { StoreTime($0) })
            }
        try self.require(admission == expected, "admission \(admission), expected \(expected)")
        switch admission {
        case .proceed(let epoch):
            let report = self.report(by: worker, epoch: epoch)
            self.calls.append(Call(report: report, failed: self.random.chance(70)))
        case .probe(let token, let epoch): self.probes.append(Probe(token: token, worker: worker, epoch: epoch))
        case .uncounted, .observe, .refuse: break
        }
    }

    private mutating func endACall() throws {
        guard !self.calls.isEmpty else { return }
        var call = self.calls.remove(at: self.random.number(in: 0...(self.calls.count - 1)))
        // Another process's clock may read a little more than the transaction's.
        call.report.at = StoreTime(self.now + (self.random.chance(5) ? 3 : 0))
        self.ended.append(call)
        if self.random.chance(75) { try self.report(call) }
    }

    private mutating func reportAgainOrLate() throws {
        if let call = self.random.pick(Array(self.ended.suffix(12))) { try self.report(call) }
    }

    private mutating func report(_ call: Call) throws {
        let report = call.report
        let action: Circuit.ReportAction
        let verdict: ReferenceModel.Verdict
        if call.failed {
            action = self.circuit.callFailed(report, at: self.moment(), isAlive: self.isAlive)
            verdict = self.model.callFailed(
                Self.failure(report), epoch: report.epoch, outage: report.outage, self.now)
        } else {
            action = self.circuit.callSucceeded(report, at: self.moment())
            verdict = self.model.callSucceeded(report.at.microseconds, epoch: report.epoch, self.now)
        }
        self.say("\(call.failed ? "failure" : "success") \(report): \(action)")
        try self.require(Self.fits(action, verdict), "\(action), expected \(verdict)")
    }

    private mutating func endAProbe() throws {
        // The dead report no more.
        guard var probe = self.random.pick(Array(self.probes.suffix(4))), self.isAlive(probe.worker) else { return }
        if self.random.chance(3) { probe.epoch = probe.epoch.adding(1) }
        let action: Circuit.ReportAction
        let verdict: ReferenceModel.Verdict
        switch self.random.number(in: 0...5) {
        case 0...2:
            action = self.circuit.probeSucceeded(token: probe.token, epoch: probe.epoch, at: self.moment())
            verdict = self.model.probeSucceeded(token: probe.token, epoch: probe.epoch, self.now)
        case 3...4:
            let outage = self.outage()
            action = self.circuit.probeFailed(
                token: probe.token, epoch: probe.epoch, error: "E", outage: outage, at: self.moment())
            verdict = self.model.probeFailed(token: probe.token, epoch: probe.epoch, outage: outage, self.now)
        default:
            action = self.circuit.probeReleased(token: probe.token, epoch: probe.epoch, at: self.moment())
            self.model.probeReleased(token: probe.token, epoch: probe.epoch)
            verdict = .nothing
        }
        self.say("probe \(probe): \(action)")
        try self.require(Self.fits(action, verdict), "\(action), expected \(verdict)")
    }

    private mutating func record() throws {
        guard let worker = self.random.pick(self.workers) else { return }
        let failed = self.random.chance(60)
        let token = self.number()
        var report = self.report(by: worker, epoch: self.circuit.epoch)
        if self.random.chance(10) { report.epoch = report.epoch.adding(-1) }
        let action = self.circuit.recorded(
            report, failed: failed, claiming: Circuit.Claim(token: token, worker: worker), at: self.moment(),
            isAlive: self.isAlive)
        var verdict = ReferenceModel.Verdict.nothing
        if report.epoch == self.model.epoch {
            switch self.model.callArrived(self.now, token: token, worker: worker) {
            case .counted(let epoch):
                verdict =
                    failed
                    ? self.model.callFailed(Self.failure(report), epoch: epoch, outage: report.outage, self.now)
                    : self.model.callSucceeded(self.now, epoch: epoch, self.now)
            case .probe(let epoch):
                verdict =
                    failed
                    ? self.model.probeFailed(token: token, epoch: epoch, outage: report.outage, self.now)
                    : self.model.probeSucceeded(token: token, epoch: epoch, self.now)
            case .uncounted, .refused:
                if failed, report.outage != nil {
                    verdict = self.model.callFailed(
                        Self.failure(report), epoch: report.epoch, outage: report.outage, self.now)
                }
            }
        }
        self.say("recorded \(failed ? "failure" : "success") \(report): \(action)")
        try self.require(Self.fits(action, verdict), "\(action), expected \(verdict)")
    }

    private mutating func changeWorkers() {
        if self.workers.count > 1, self.random.chance(60), let worker = self.random.pick(self.workers) {
            self.workers.removeAll { $0 == worker }
            self.living.remove(worker)
            self.say("death of worker \(worker)")
        } else {
            let worker = WorkerID(self.number())
            self.workers.append(worker)
            self.living.insert(worker)
            self.say("worker \(worker)")
        }
        self.model.living = self.living
    }

    private mutating func operate() throws {
        switch self.random.number(in: 0...4) {
        case 4:
            let allowed = self.circuit.probesAllowed(at: StoreTime(self.now), reason: nil)
            let expected = self.model.allowProbes(self.now)
            self.say("probes allowed: \(allowed)")
            try self.require(allowed == expected, "probes allowed \(allowed)")
        case 0:
            self.circuit.reset(at: StoreTime(self.now), reason: nil)
            self.model.reset(self.now)
            self.say("reset")
        case 1:
            let released = self.circuit.released(at: StoreTime(self.now), reason: nil)
            let expected = self.model.release(self.now)
            self.say("released: \(released)")
            try self.require(released == expected, "released \(released)")
        default:
            let state: HoldState = self.random.chance(50) ? .open : .closed
            let time: Int64? = self.random.chance(80) ? Int64(self.random.number(in: 1...40)) : nil
            self.circuit.held(state, for: time, by: nil, reason: nil, at: StoreTime(self.now))
            self.model.hold(state, until: time.map { self.now + $0 }, self.now)
            self.say("held \(state) for \(time.map(String.init) ?? "ever")")
        }
    }

    private mutating func configure() {
        let rules = Self.rules(&self.random)
        self.circuit.configured(rules, change: "")
        self.model.configure(rules)
        self.say("rules \(rules)")
    }

    // MARK: - Small things

    func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Mismatch(description: "\(what()); at \(self.now) the circuit is \(self.circuit)") }
    }

    private func say(_ what: @autoclosure () -> String) {
        if let log = self.log { log.lines.append(what()) }
    }

    private mutating func moment() -> Moment {
        Moment(now: StoreTime(self.now), draw: Double(self.random.next() >> 11) * 0x1p-53)
    }

    private mutating func number() -> Int64 {
        self.nextNumber += 1
        return self.nextNumber
    }

    private mutating func report(by worker: WorkerID, epoch: Epoch) -> Report {
        Report(
            worker: worker, sequence: self.number(), epoch: epoch, at: StoreTime(self.now), error: "E",
            outage: self.outage())
    }

    /// Now and then a service says that it is down, for ever so long.
    private mutating func outage() -> Outage? {
        guard self.random.chance(8) else { return nil }
        return Outage(time: self.random.chance(70) ? Int64(self.random.number(in: -5...150)) : nil)
    }

    var isAlive: (WorkerID) -> Bool {
        let living = self.living
        return { living.contains($0) }
    }

    private static func failure(_ report: Report) -> ReferenceModel.Failure {
        ReferenceModel.Failure(at: report.at.microseconds, worker: report.worker, sequence: report.sequence)
    }

    /// The model doesn't tell a report that came too late from one that only counted.
    private static func fits(_ action: Circuit.ReportAction, _ verdict: ReferenceModel.Verdict) -> Bool {
        switch action {
        case .stale, .unchanged: verdict == .nothing
        case .counted: verdict == .nothing || verdict == .forgotten
        case .extended: false
        case .tripped: verdict == .tripped
        case .reopened: verdict == .reopened
        case .closed: verdict == .closed
        }
    }
}
