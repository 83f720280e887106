@testable import BreakerStore

/// A circuit with its failures in memory, each report of which may be known already.
@dynamicMemberLookup
struct TestCircuit: Equatable {
    private(set) var machine: Circuit
    /// Oldest first.
    var failures: [Circuit.Failure]

    init(
        rules: Rules,
        state: Circuit.State,
        since: StoreTime,
        epoch: Epoch,
        failures: [Circuit.Failure] = [],
        forgottenUntil: StoreTime? = nil,
        tripsInARow: Int = 0,
        probes: [Circuit.Probe] = [],
        hold: Circuit.Hold? = nil,
        lastError: String? = nil
    ) {
        self.machine = Circuit(
            rules: rules, state: state, since: since, epoch: epoch, forgottenUntil: forgottenUntil,
            tripsInARow: tripsInARow, probes: probes, hold: hold, lastError: lastError)
        self.failures = failures
    }

    init(rules: Rules, at now: StoreTime, epochFloor: Epoch = 0) {
        self.machine = Circuit(rules: rules, at: now, epochFloor: epochFloor)
        self.failures = []
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<Circuit, Value>) -> Value {
        get { self.machine[keyPath: path] }
        set { self.machine[keyPath: path] = newValue }
    }

    subscript<Value>(dynamicMember path: KeyPath<Circuit, Value>) -> Value { self.machine[keyPath: path] }

    mutating func apply<Result>(at now: StoreTime, _ event: (inout Circuit, FailureList) -> Result) -> Result {
        var memory = CircuitInMemory(self.machine, self.failures)
        defer {
            self.machine = memory.circuit
            self.machine.failureCount = .none
            self.failures = memory.failures.failures
        }
        return memory.apply(at: now, event)
    }

    func failureCount(at now: StoreTime) -> Int {
        var copy = self
        return copy.apply(at: now) { circuit, _ in circuit.failureCount.count }
    }

    func answer(at now: StoreTime, isAlive: (WorkerID) -> Bool) -> Circuit.Answer {
        self.machine.answer(at: now, isAlive: isAlive)
    }

    var hold: Circuit.Hold? {
        get { self.machine.hold }
        set { self.machine.hold = newValue }
    }

    func hold(at now: StoreTime) -> Circuit.Hold? { self.machine.hold(at: now) }

    mutating func clampFutureStamps(for now: StoreTime) { self.machine.clampFutureStamps(for: now) }

    // MARK: - Events

    mutating func callFailed(
        _ report: Report, at moment: Moment, isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> Circuit.ReportAction {
        var report = report
        report.isRetry = true
        return self.apply(at: moment.now) { $0.callFailed(report, at: moment, among: $1, isAlive: isAlive) }
    }

    mutating func callSucceeded(_ report: Report, at moment: Moment) -> Circuit.ReportAction {
        self.apply(at: moment.now) { circuit, _ in circuit.callSucceeded(report, at: moment) }
    }

    mutating func callArrived(
        at moment: Moment, claiming claim: Circuit.Claim, isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> Circuit.Decision {
        self.apply(at: moment.now) { circuit, _ in circuit.callArrived(at: moment, claiming: claim, isAlive: isAlive) }
    }

    mutating func probeSucceeded(token: Int64, epoch: Epoch, at moment: Moment) -> Circuit.ReportAction {
        self.apply(at: moment.now) { circuit, _ in circuit.probeSucceeded(token: token, epoch: epoch, at: moment) }
    }

    mutating func probeFailed(
        token: Int64, epoch: Epoch, error: String?, outage: Outage? = nil, at moment: Moment
    ) -> Circuit.ReportAction {
        let report = Report(worker: 1, sequence: 1, epoch: epoch, at: moment.now, error: error, outage: outage)
        return self.probeEnded(token: token, .failure, report, at: moment)
    }

    mutating func probeEnded(
        token: Int64, _ verdict: Verdict, _ report: Report, at moment: Moment
    ) -> Circuit.ReportAction {
        self.apply(at: moment.now) { circuit, _ in circuit.probeEnded(token: token, verdict, report, at: moment) }
    }

    mutating func probeReleased(token: Int64, epoch: Epoch, at moment: Moment) -> Circuit.ReportAction {
        self.apply(at: moment.now) { circuit, _ in circuit.probeReleased(token: token, epoch: epoch, at: moment) }
    }

    mutating func recorded(
        _ report: Report,
        failed: Bool,
        claiming claim: Circuit.Claim,
        at moment: Moment,
        isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> Circuit.ReportAction {
        var report = report
        report.isRetry = true
        return self.apply(at: moment.now) {
            $0.recorded(report, failed: failed, claiming: claim, at: moment, among: $1, isAlive: isAlive)
        }
    }

    mutating func reset(at now: StoreTime, reason: String?) {
        self.apply(at: now) { circuit, _ in circuit.reset(at: now, reason: reason) }
    }

    mutating func held(_ state: HoldState, for duration: Int64?, by who: String?, reason: String?, at now: StoreTime) {
        self.apply(at: now) { circuit, _ in circuit.held(state, for: duration, by: who, reason: reason, at: now) }
    }

    mutating func released(at now: StoreTime, reason: String?) -> Bool {
        self.apply(at: now) { circuit, _ in circuit.released(at: now, reason: reason) }
    }

    mutating func probesAllowed(at now: StoreTime, reason: String?) -> Bool {
        self.apply(at: now) { circuit, _ in circuit.probesAllowed(at: now, reason: reason) }
    }

    mutating func configured(_ rules: Rules, change: String) {
        self.apply(at: self.machine.since) { circuit, _ in circuit.configured(rules, change: change) }
    }
}
