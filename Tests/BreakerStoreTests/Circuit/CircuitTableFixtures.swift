import Testing

@testable import BreakerStore

/// The situations of the table, all of them at `now`.
enum Situation: String, CaseIterable, CustomTestStringConvertible {
    case closed, closedOne, closedTwo
    case consecutive, consecutiveOne, consecutiveTwo
    case openEarly, openDue, openLongDue
    case halfFree, halfLast, halfFull, halfDead, halfExpired
    case heldOpenClosed, heldOpenOpen, heldOpenDue
    case heldClosedClosed, heldClosedOpen, heldClosedDue
    case overClosed, overOpen, overDue
    case unknownRule, unknownState

    static let now: Int64 = 10_000
    /// Between the epochs and now, so that a transition's epoch is now; or above both, so that it is one more.
    static let epochs: [Epoch] = [9_000, 20_000]

    var testDescription: String { self.rawValue }

    func circuit(epoch: Epoch) -> TestCircuit {
        let now = StoreTime(Self.now)
        var circuit = TestCircuit(rules: .forTests(), state: .closed, since: StoreTime(8_000), epoch: epoch)
        circuit.lastError = "an earlier error"
        let failures = [
            Circuit.Failure(at: now.adding(-20), worker: 1, sequence: 1),
            Circuit.Failure(at: now.adding(-10), worker: 2, sequence: 1),
        ]
        func probe(_ token: Int64, _ lease: Int64) -> Circuit.Probe {
            Circuit.Probe(token: token, worker: WorkerID(token), since: now.adding(-50), leaseEnds: now.adding(lease))
        }
        func beneath(_ state: Circuit.State) {
            circuit.state = state
            switch state {
            case .closed, .unknown: circuit.failures = [failures[0]]
            case .open, .halfOpen:
                circuit.failures = failures
                circuit.tripsInARow = 1
            }
        }
        switch self {
        case .closed: break
        case .closedOne, .heldOpenClosed, .heldClosedClosed, .overClosed: beneath(.closed)
        case .closedTwo: circuit.failures = failures
        case .consecutive: circuit.rules.trip = .consecutiveFailures(3)
        case .consecutiveOne:
            circuit.rules.trip = .consecutiveFailures(3)
            circuit.failures = [failures[0]]
        case .consecutiveTwo:
            circuit.rules.trip = .consecutiveFailures(3)
            circuit.failures = failures
        case .openEarly, .heldOpenOpen, .heldClosedOpen, .overOpen: beneath(.open(until: now.adding(7)))
        case .openDue, .heldOpenDue, .heldClosedDue, .overDue: beneath(.open(until: now))
        case .openLongDue: beneath(.open(until: now.adding(-500)))
        case .halfFree: beneath(.halfOpen(successes: 0))
        case .halfLast: beneath(.halfOpen(successes: 1))
        case .halfFull, .halfDead, .halfExpired: beneath(.halfOpen(successes: 0))
        case .unknownRule:
            circuit.rules.trip = TripRule(kind: .unknown("rate"))
            beneath(.closed)
        case .unknownState: beneath(.unknown("shadow", until: nil))
        }
        switch self {
        case .halfFree, .halfLast: circuit.probes = [probe(1, 50)]
        case .halfFull: circuit.probes = [probe(1, 50), probe(2, 60)]
        case .halfDead: circuit.probes = [probe(1, 50), probe(9, 60)]
        case .halfExpired: circuit.probes = [probe(1, 50), probe(8, 0)]
        case .heldOpenClosed, .heldOpenOpen, .heldOpenDue: circuit.hold = self.hold(.open, until: 30)
        case .heldClosedClosed, .heldClosedOpen, .heldClosedDue: circuit.hold = self.hold(.closed, until: nil)
        case .overClosed, .overDue: circuit.hold = self.hold(.open, until: 0)
        case .overOpen: circuit.hold = self.hold(.closed, until: -1)
        case .closed, .closedOne, .closedTwo, .consecutive, .consecutiveOne, .consecutiveTwo: break
        case .openEarly, .openDue, .openLongDue, .unknownRule, .unknownState: break
        }
        return circuit
    }

    /// Worker 9 is dead, all others live.
    static func isAlive(_ worker: WorkerID) -> Bool { worker != 9 }

    private func hold(_ state: HoldState, until: Int64?) -> Circuit.Hold {
        Circuit.Hold(
            state: state,
            since: StoreTime(Self.now - 100),
            until: until.map { StoreTime(Self.now + $0) },
            by: nil,
            reason: nil
        )
    }
}

/// The events of the table.
enum Happening: String, CaseIterable, CustomTestStringConvertible {
    case callArrived
    case callFailed, callFailedTwice, callFailedStale
    case callSucceeded, callSucceededStale
    case probeSucceeded, probeFailed, probeReleased
    case probeSucceededWrongToken, probeFailedWrongToken, probeReleasedWrongToken
    case probeSucceededWrongEpoch, probeFailedWrongEpoch, probeReleasedWrongEpoch
    case probeSucceededAtLeaseEnd, probeFailedAtLeaseEnd, probeReleasedAtLeaseEnd
    case probeSucceededLate, probeFailedLate, probeReleasedLate
    case recordedFailure, recordedSuccess, recordedFailureStale, recordedSuccessStale
    case reset, heldOpen, heldOpenForTime, heldClosed, heldClosedForTime, released, probesAllowed
    case configured, asked

    /// What came back.
    enum Reply: Equatable {
        case admitted(Circuit.Decision)
        case reported(Circuit.ReportAction)
        case asked(Circuit.Answer, failures: Int)
        case released(Bool)
        case nothing
    }

    static let newRules = Rules.forTests(.failures(9, window: 77))

    var testDescription: String { self.rawValue }

    /// The lease of probe 1 ends at now + 50.
    var time: Int64 {
        if Self.atLeaseEnd.contains(self) { return Situation.now + 50 }
        return Self.late.contains(self) ? Situation.now + 51 : Situation.now
    }

    static let atLeaseEnd: [Happening] = [.probeSucceededAtLeaseEnd, .probeFailedAtLeaseEnd, .probeReleasedAtLeaseEnd]
    static let late: [Happening] = [.probeSucceededLate, .probeFailedLate, .probeReleasedLate]

    func happen(to circuit: inout TestCircuit) -> Reply {
        let moment = Moment(self.time)
        let claim = Circuit.Claim(token: 5, worker: 5)
        let alive = Situation.isAlive
        var report = Report(worker: 5, sequence: 5, epoch: circuit.epoch, at: moment.now.adding(-1), error: "E")
        let epoch = circuit.epoch
        switch self {
        case .callArrived:
            return .admitted(circuit.callArrived(at: moment, claiming: claim, isAlive: alive))
        case .callFailed:
            return .reported(circuit.callFailed(report, at: moment, isAlive: alive))
        case .callFailedTwice:
            _ = circuit.callFailed(report, at: moment, isAlive: alive)
            return .reported(circuit.callFailed(report, at: moment, isAlive: alive))
        case .callFailedStale:
            report.epoch = report.epoch.adding(-1)
            return .reported(circuit.callFailed(report, at: moment, isAlive: alive))
        case .callSucceeded:
            return .reported(circuit.callSucceeded(report, at: moment))
        case .callSucceededStale:
            report.epoch = report.epoch.adding(1)
            return .reported(circuit.callSucceeded(report, at: moment))
        case .probeSucceeded, .probeSucceededAtLeaseEnd, .probeSucceededLate:
            return .reported(circuit.probeSucceeded(token: 1, epoch: epoch, at: moment))
        case .probeFailed, .probeFailedAtLeaseEnd, .probeFailedLate:
            return .reported(circuit.probeFailed(token: 1, epoch: epoch, error: "E", at: moment))
        case .probeReleased, .probeReleasedAtLeaseEnd, .probeReleasedLate:
            return .reported(circuit.probeReleased(token: 1, epoch: epoch, at: moment))
        case .probeSucceededWrongToken:
            return .reported(circuit.probeSucceeded(token: 77, epoch: epoch, at: moment))
        case .probeFailedWrongToken:
            return .reported(circuit.probeFailed(token: 77, epoch: epoch, error: "E", at: moment))
        case .probeReleasedWrongToken:
            return .reported(circuit.probeReleased(token: 77, epoch: epoch, at: moment))
        case .probeSucceededWrongEpoch:
            return .reported(circuit.probeSucceeded(token: 1, epoch: epoch.adding(-1), at: moment))
        case .probeFailedWrongEpoch:
            return .reported(circuit.probeFailed(token: 1, epoch: epoch.adding(-1), error: "E", at: moment))
        case .probeReleasedWrongEpoch:
            return .reported(circuit.probeReleased(token: 1, epoch: epoch.adding(1), at: moment))
        case .recordedFailure, .recordedSuccess:
            let failed = self == .recordedFailure
            return .reported(circuit.recorded(report, failed: failed, claiming: claim, at: moment, isAlive: alive))
        case .recordedFailureStale, .recordedSuccessStale:
            report.epoch = report.epoch.adding(-1)
            let failed = self == .recordedFailureStale
            return .reported(circuit.recorded(report, failed: failed, claiming: claim, at: moment, isAlive: alive))
        case .reset:
            circuit.reset(at: moment.now, reason: nil)
        case .heldOpen:
            circuit.held(.open, for: nil, by: "me", reason: "why", at: moment.now)
        case .heldOpenForTime:
            circuit.held(.open, for: 40, by: "me", reason: "why", at: moment.now)
        case .heldClosed:
            circuit.held(.closed, for: nil, by: "me", reason: "why", at: moment.now)
        case .heldClosedForTime:
            circuit.held(.closed, for: 40, by: "me", reason: "why", at: moment.now)
        case .released:
            return .released(circuit.released(at: moment.now, reason: nil))
        case .probesAllowed:
            return .released(circuit.probesAllowed(at: moment.now, reason: nil))
        case .configured:
            circuit.configured(Self.newRules, change: "rules")
        case .asked:
            return .asked(
                circuit.answer(at: moment.now, isAlive: alive), failures: circuit.failureCount(at: moment.now))
        }
        return .nothing
    }
}
