import Testing

@testable import BreakerStore

/// Whatever the rows hold, an event ends with an answer: these tests pass by coming back.
@Suite(.timeLimit(.minutes(10))) struct CircuitExtremesTests {
    static let instants: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    static let counts: [Int] = [.min, -1, 0, 1, .max]

    /// Every event, each on a copy of its own.
    private func everything(_ circuit: TestCircuit, at now: Int64) {
        let moment = Moment(now: StoreTime(now), draw: 0.999)
        let claim = Circuit.Claim(token: now, worker: WorkerID(.min))
        for instant in Self.instants {
            let report = Report(worker: WorkerID(.max), sequence: instant, epoch: circuit.epoch, at: StoreTime(instant))
            for isAlive in [true, false] {
                var failed = circuit
                _ = failed.callFailed(report, at: moment) { _ in isAlive }
                #expect(failed.epoch >= circuit.epoch)
                var arrived = circuit
                _ = arrived.callArrived(at: moment, claiming: claim) { _ in isAlive }
                #expect(arrived.epoch >= circuit.epoch)
                _ = circuit.answer(at: moment.now) { _ in isAlive }
            }
            var succeeded = circuit
            _ = succeeded.callSucceeded(report, at: moment)
            for isFailure in [true, false] {
                var recorded = circuit
                _ = recorded.recorded(report, failed: isFailure, claiming: claim, at: moment)
            }
            for state in [HoldState.open, .closed] {
                var held = circuit
                held.held(state, for: instant, by: nil, reason: nil, at: moment.now)
                _ = held.callArrived(at: moment, claiming: claim)
                #expect(held.epoch >= circuit.epoch)
            }
        }
        for token in circuit.probes.map(\.token) + [0] {
            var probe = circuit
            _ = probe.probeSucceeded(token: token, epoch: circuit.epoch, at: moment)
            probe = circuit
            for outage in [nil, Outage(time: .max), Outage(time: .min)] {
                probe = circuit
                let report = Report(
                    worker: 1, sequence: 1, epoch: circuit.epoch, at: moment.now, error: nil, outage: outage)
                _ = probe.probeEnded(token: token, .failure, report, at: moment)
            }
            probe = circuit
            _ = probe.probeReleased(token: token, epoch: circuit.epoch, at: moment)
        }
        var other = circuit
        _ = other.released(at: moment.now, reason: nil)
        other.configured(other.rules, change: "")
        other.reset(at: moment.now, reason: nil)
        #expect(other.state == .closed)
        _ = circuit.failureCount(at: moment.now)
        var stamped = circuit
        stamped.clampFutureStamps(for: moment.now)
        #expect(stamped.since <= moment.now)
    }

    @Test(arguments: instants, instants)
    func timesAndEpochs(now: Int64, stamp: Int64) {
        let time = StoreTime(stamp)
        let states: [Circuit.State] = [
            .closed, .open(until: time), .halfOpen(successes: .max), .halfOpen(successes: .min),
        ]
        for state in states {
            for hold in [nil, Circuit.Hold(state: .open, since: time, until: time)] {
                let circuit = TestCircuit(
                    rules: .forTests(),
                    state: state,
                    since: time,
                    epoch: Epoch(stamp),
                    failures: [Circuit.Failure(at: time, worker: WorkerID(stamp), sequence: stamp)],
                    forgottenUntil: time,
                    tripsInARow: Int(stamp),
                    probes: [
                        Circuit.Probe(token: 1, worker: WorkerID(stamp), since: time, leaseEnds: StoreTime(.max)),
                        Circuit.Probe(token: 1, worker: WorkerID(stamp), since: time, leaseEnds: time),
                    ],
                    hold: hold
                )
                self.everything(circuit, at: now)
            }
        }
    }

    @Test(arguments: instants, counts)
    func rules(time: Int64, count: Int) {
        for trip in [TripRule.failures(count, window: time), .consecutiveFailures(count)] {
            for number in [-Double.infinity, -1, 0, 1.000_000_001, 1e300, .infinity, .nan] {
                var rules = Rules(
                    trip: trip,
                    recovery: time,
                    multiplier: number,
                    cap: time,
                    jitter: number,
                    probeLimit: count,
                    successesToClose: count,
                    lease: time,
                    minimumReporters: count
                )
                rules.probes.growth = count
                rules.probes.toleratedShare = number
                for state in [Circuit.State.closed, .open(until: StoreTime(0)), .halfOpen(successes: 0)] {
                    var circuit = TestCircuit(rules: rules, state: state, since: StoreTime(0), epoch: 0)
                    circuit.tripsInARow = count
                    circuit.probes = [Circuit.Probe(token: 1, worker: 1, since: StoreTime(0), leaseEnds: StoreTime(9))]
                    self.everything(circuit, at: 1)
                }
            }
        }
    }

    @Test func aNewCircuitStartsAboveThoseThatWereForgotten() {
        #expect(TestCircuit(rules: .forTests(), at: StoreTime(5), epochFloor: 9).epoch == 9)
        #expect(TestCircuit(rules: .forTests(), at: StoreTime(5), epochFloor: 2).epoch == 5)
    }
}
