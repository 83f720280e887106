import Testing

@testable import BreakerStore

/// What the machine makes of a service's word that it is down.
@Suite struct CircuitOutageTests {
    private func report(
        _ outage: Outage, by worker: WorkerID = 1, endedAt ended: Int64 = 100, epoch: Epoch = 0
    ) -> Report {
        Report(
            worker: worker, sequence: 7, epoch: epoch, at: StoreTime(ended), error: "E", outage: outage)
    }

    /// The machine as a transaction uses it: the first telling of a report is not known yet.
    private func fail(
        _ circuit: inout CircuitInMemory, _ report: Report, at now: Int64, alive: Set<WorkerID> = [1, 2]
    ) -> Circuit.ReportAction {
        circuit.apply(at: StoreTime(now)) {
            $0.callFailed(report, at: Moment(now), among: $1) { alive.contains($0) }
        }
    }

    private func circuit(_ change: (inout Rules) -> Void = { _ in }) -> CircuitInMemory {
        var rules = Rules.forTests()
        change(&rules)
        return CircuitInMemory(Circuit(rules: rules, at: StoreTime(0)))
    }

    /// Named time, time from the call's end to the report, and when the circuit is due.
    @Test(
        arguments: [
            (2_000, 0, 2_100), (nil, 0, 600), (0, 0, 100), (0, 9, 109), (-5, 0, 100), (10_000, 0, 10_100),
            (10_001, 0, 10_100), (.max, 0, 10_100), (.min, 0, 100), (2_000, 500, 2_100), (nil, 500, 1_100),
        ] as [(Int64?, Int64, Int64)])
    func opensAtOnceForTheTimeThatItNames(_ time: Int64?, _ delay: Int64, _ due: Int64) {
        var circuit = self.circuit()
        #expect(self.fail(&circuit, self.report(Outage(time: time)), at: 100 + delay) == .tripped)
        #expect(circuit.circuit.state == .open(until: StoreTime(due)))
        #expect(circuit.circuit.tripsInARow == 1)
        #expect(circuit.failures.failures.count == 1)
        #expect(circuit.circuit.transitions.map(\.kind) == [.tripped])
    }

    /// The cap of the recovery rule has no part in it.
    @Test(arguments: [(400, 500), (800, 900), (900, 900), (.max, 900)] as [(Int64, Int64)])
    func theOutageCapCutsTheTime(_ time: Int64, _ due: Int64) {
        var circuit = self.circuit {
            $0.cap = 50
            $0.recovery.outageCap = .microseconds(800)
        }
        #expect(self.fail(&circuit, self.report(Outage(time: time)), at: 100) == .tripped)
        #expect(circuit.circuit.state == .open(until: StoreTime(due)))
    }

    @Test(arguments: [
        (Outage(time: 2_000_000), "the service said that it is down for 2 s: E"),
        (Outage(time: nil), "the service said that it is down: E"),
        (Outage(time: 20_000_000), "the service said that it is down for 20 s, cut to 10 s: E"),
        (Outage(time: -7), "the service said that it is down for 0 s: E"),
    ])
    func theHistorySaysSo(_ outage: Outage, _ reason: String) {
        var circuit = self.circuit { $0.recovery.outageCap = .seconds(10) }
        _ = self.fail(&circuit, self.report(outage), at: 100)
        #expect(circuit.circuit.transitions.map(\.reason) == [reason])
    }

    /// A word that is told again, because the file could not be used, is no news once its time is over.
    @Test(
        arguments: [
            (2_000, 2_099, Circuit.ReportAction.tripped), (2_000, 2_100, .counted), (nil, 599, .tripped),
            (nil, 600, .counted),
        ] as [(Int64?, Int64, Circuit.ReportAction)])
    func anOldOutageIsAnOrdinaryFailure(_ time: Int64?, _ now: Int64, _ action: Circuit.ReportAction) {
        var circuit = self.circuit { $0.trip = .failures(3, window: 10_000) }
        var report = self.report(Outage(time: time))
        report.isRetry = true
        #expect(self.fail(&circuit, report, at: now) == action)
        #expect(circuit.failures.failures.count == 1)
    }

    @Test func oneWorkerIsBelievedWhereTwoAreAsked() {
        var circuit = self.circuit { $0.minimumReporters = 2 }
        #expect(self.fail(&circuit, self.report(Outage(time: 300), by: 1), at: 100) == .tripped)
        #expect(circuit.circuit.state == .open(until: StoreTime(400)))
    }

    // MARK: - After the circuit has changed

    private static let second: Int64 = 1_000_000

    /// A circuit that has been open since 0, until 10 s.
    private func open(_ change: (inout Rules) -> Void = { _ in }) -> CircuitInMemory {
        var rules = Rules.forTests()
        rules.recovery.outageCap = .seconds(86_400)
        change(&rules)
        return CircuitInMemory(
            Circuit(
                rules: rules, state: .open(until: StoreTime(10 * Self.second)), since: StoreTime(0), epoch: 5,
                tripsInARow: 1))
    }

    /// Named seconds at 1 s, and the seconds at which the circuit is then due.
    @Test(
        arguments: [
            (5, 10), (9, 10), (10, 10), (11, 12), (100_000, 86_401), (Int64.max / 1_000_000, 86_401), (-1, 10),
            (nil, 10),
        ] as [(Int64?, Int64)])
    func whileItIsOpenTheLaterEndCounts(_ time: Int64?, _ due: Int64) {
        var circuit = self.open()
        let report = self.report(Outage(time: time.map { $0 * Self.second }), endedAt: Self.second, epoch: 2)
        let action = self.fail(&circuit, report, at: Self.second)
        #expect(action == (due == 10 ? .unchanged : .extended))
        #expect(circuit.circuit.state == .open(until: StoreTime(due * Self.second)))
        #expect(circuit.circuit.epoch == (due == 10 ? 5 : Epoch(Self.second)))
        #expect(circuit.circuit.since == StoreTime(0))
        #expect(circuit.circuit.tripsInARow == 1)
        #expect(circuit.circuit.transitions.map(\.kind) == (due == 10 ? [] : [.extended]))
        #expect(circuit.circuit.lastError == (due == 10 ? nil : "E"))
    }

    @Test func theHistorySaysWhatWasCut() {
        var circuit = self.open { $0.recovery.outageCap = .seconds(60) }
        let report = self.report(Outage(time: 100 * Self.second), endedAt: Self.second)
        #expect(self.fail(&circuit, report, at: Self.second) == .extended)
        #expect(
            circuit.circuit.transitions.map(\.reason)
                == ["the service said that it is down for 100 s, cut to 60 s: E"])
    }

    /// Named time at 200, of a call that a closed circuit had admitted: only an end in the future counts.
    @Test(arguments: [(50, true), (1, true), (0, false), (-1, false), (nil, false)] as [(Int64?, Bool)])
    func aHalfOpenCircuitOpens(_ time: Int64?, _ opens: Bool) {
        var circuit = CircuitInMemory(
            Circuit(rules: .forTests(), state: .halfOpen(successes: 1), since: StoreTime(190), epoch: 5, tripsInARow: 1)
        )
        let action = self.fail(&circuit, self.report(Outage(time: time), endedAt: 200, epoch: 2), at: 200)
        #expect(action == (opens ? .reopened : .stale))
        let expected = opens ? Circuit.State.open(until: StoreTime(200 + (time ?? 0))) : .halfOpen(successes: 1)
        #expect(circuit.circuit.state == expected)
    }

    /// When a late call ended, of a circuit that was closed again, by a reset or a probe, at 100.
    @Test(arguments: [(99, false), (100, true), (150, true)] as [(Int64, Bool)])
    func aResetOrAProbesSuccessAfterTheCallCountsMore(_ ended: Int64, _ opens: Bool) {
        var circuit = CircuitInMemory(Circuit(rules: .forTests(), state: .closed, since: StoreTime(100), epoch: 5))
        let action = self.fail(&circuit, self.report(Outage(time: 300), endedAt: ended, epoch: 2), at: 160)
        #expect(action == (opens ? .tripped : .stale))
        #expect(circuit.circuit.state == (opens ? .open(until: StoreTime(ended + 300)) : .closed))
    }

    @Test(arguments: [HoldState.open, .closed])
    func aHoldKeepsItOut(_ state: HoldState) {
        var circuit = self.open()
        circuit.apply(at: StoreTime(1)) { circuit, _ in
            circuit.held(state, for: nil, by: nil, reason: nil, at: StoreTime(1))
            _ = circuit.drainTransitions()
        }
        let report = self.report(Outage(time: 100 * Self.second), endedAt: 2)
        #expect(self.fail(&circuit, report, at: 2) == .stale)
        #expect(circuit.circuit.state == .open(until: StoreTime(10 * Self.second)))
    }

    @Test func aReportWithoutAPermitCountsToo() {
        var circuit = self.open()
        let action = circuit.apply(at: StoreTime(Self.second)) {
            $0.recorded(
                self.report(Outage(time: 100 * Self.second), endedAt: Self.second, epoch: 5), failed: true,
                claiming: Circuit.Claim(token: 3, worker: 1), at: Moment(Self.second), among: $1)
        }
        #expect(action == .extended)
    }

    @Test(arguments: [(2_000, 2_200), (nil, 1_200), (1, 201), (20_000, 10_200)] as [(Int64?, Int64)])
    func aProbeReopensForTheTime(_ time: Int64?, _ due: Int64) {
        var circuit = TestCircuit(
            rules: .forTests(), state: .open(until: StoreTime(150)), since: StoreTime(0), epoch: 0, tripsInARow: 1)
        guard case .probe(let token, let epoch) = circuit.arrive(at: 200, token: 3) else {
            Issue.record("no probe")
            return
        }
        let verdict = Verdict.outage(for: time.map { .microseconds($0) })
        let action = circuit.apply(at: StoreTime(200)) { machine, _ in
            machine.probeEnded(
                token: token, verdict,
                Report(
                    worker: 1, sequence: 7, epoch: epoch, at: StoreTime(200), error: "E", outage: verdict.outage),
                at: Moment(200))
        }
        #expect(action == .reopened)
        #expect(circuit.state == .open(until: StoreTime(due)))
        #expect(circuit.tripsInARow == 2)
        let said = time.map {
            "the service said that it is down for \(Duration.microseconds($0).readable)"
                + ($0 > 10_000 ? ", cut to 10 ms: E" : ": E")
        }
        #expect(circuit.transitions.last?.reason == said ?? "the service said that it is down: E")
    }

    // MARK: - After the probe has lost its slot

    /// A half-open circuit of epoch 5 since 0, where worker 1's probe 3 has a lease until 50.
    private func halfOpen() -> TestCircuit {
        let probe = Circuit.Probe(token: 3, worker: 1, since: StoreTime(0), leaseEnds: StoreTime(50))
        return TestCircuit(
            rules: self.open().circuit.rules, state: .halfOpen(successes: 0), since: StoreTime(0), epoch: 5,
            tripsInARow: 1, probes: [probe])
    }

    private func outageOfProbe(_ time: Int64?, endedAt ended: Int64) -> Report {
        self.report(Outage(time: time), endedAt: ended, epoch: 5)
    }

    @Test(arguments: [(2_000, true), (0, false), (nil, false)] as [(Int64?, Bool)])
    func aProbesOutageCountsAfterItsLease(_ time: Int64?, _ opens: Bool) {
        var circuit = self.halfOpen()
        let action = circuit.probeEnded(
            token: 3, .outage(for: nil), self.outageOfProbe(time, endedAt: 100), at: Moment(100))
        #expect(action == (opens ? .reopened : .stale))
        #expect(circuit.state == (opens ? .open(until: StoreTime(2_100)) : .halfOpen(successes: 0)))
        #expect(circuit.transitions.map(\.kind) == (opens ? [.probeExpired, .reopened] : [.probeExpired]))
    }

    @Test func aProbesOutageExtendsWhatAnotherProbeHasOpened() {
        var circuit = self.halfOpen()
        let failure = Report(worker: 2, sequence: 1, epoch: 5, at: StoreTime(20))
        circuit.probes.append(
            Circuit.Probe(token: 4, worker: 2, since: StoreTime(0), leaseEnds: StoreTime(50)))
        #expect(circuit.probeEnded(token: 4, .failure, failure, at: Moment(20)) == .reopened)
        let time = 5 * Self.second
        let action = circuit.probeEnded(
            token: 3, .outage(for: nil), self.outageOfProbe(time, endedAt: 30), at: Moment(30))
        #expect(action == .extended)
        #expect(circuit.state == .open(until: StoreTime(30 + time)))
    }

    /// A probe that hears of an outage whose end is past has failed, and no more.
    @Test(arguments: [0, -5] as [Int64])
    func aProbesOutageOfNoTimeReopensForTheRecoveryTime(_ time: Int64) {
        var circuit = self.halfOpen()
        let action = circuit.probeEnded(
            token: 3, .outage(for: nil), self.outageOfProbe(time, endedAt: 40), at: Moment(40))
        #expect(action == .reopened)
        #expect(circuit.state == .open(until: StoreTime(1_040)))
    }

    // MARK: - After the circuit has started over

    /// What starts it over at 100.
    enum Start: CaseIterable {
        case reset, probe, fleet, command, resetOfFleet

        func apply(to circuit: inout TestCircuit) {
            circuit.apply(at: StoreTime(100)) { machine, _ in
                let now = StoreTime(100)
                switch self {
                case .reset: machine.reset(at: now, reason: nil)
                case .probe:
                    let claim = Circuit.Claim(token: 9, worker: 1)
                    _ = machine.callArrived(at: Moment(100), claiming: claim)
                    _ = machine.probeSucceeded(token: 9, epoch: machine.epoch, at: Moment(100))
                case .fleet: _ = machine.closeOrdered(reason: nil, at: now)
                case .command: _ = machine.probesAllowed(at: now, reason: nil)
                case .resetOfFleet:
                    machine.reset(at: StoreTime(0), reason: nil)
                    machine.resetOrdered(asOf: now, endsHold: true, reason: nil, at: now)
                }
            }
        }
    }

    /// When a call of an earlier epoch ended whose provider declares an outage.
    @Test(arguments: Start.allCases, [(99, false), (100, true)] as [(Int64, Bool)])
    func anOutageFromBeforeTheStartIsNotBelieved(_ start: Start, _ call: (ended: Int64, isBelieved: Bool)) {
        var circuit = TestCircuit(
            rules: self.open { $0.probes.successesToClose = 1 }.circuit.rules,
            state: .open(until: StoreTime(start == .probe ? 100 : 90_000)), since: StoreTime(0), epoch: 5,
            tripsInARow: 1)
        start.apply(to: &circuit)
        // The next outage, of which the call knows nothing.
        let failure = Report(worker: 2, sequence: 1, epoch: circuit.epoch, at: StoreTime(110), outage: Outage(time: 90))
        if circuit.state == .closed {
            #expect(circuit.callFailed(failure, at: Moment(110)) == .tripped)
        }
        let time = 5 * Self.second
        let late = self.report(Outage(time: time), endedAt: call.ended, epoch: 2)
        let before = circuit.state
        #expect(circuit.callFailed(late, at: Moment(120)) == (call.isBelieved ? .extended : .stale))
        #expect(circuit.state == (call.isBelieved ? .open(until: StoreTime(call.ended + time)) : before))
    }

    /// The in-memory fallback admitted the call before this process had read the circuit.
    @Test func anUnreadOutageFromBeforeAResetIsNotBelieved() {
        for (ended, action) in [(99, Circuit.ReportAction.stale), (101, .tripped)] as [(Int64, Circuit.ReportAction)] {
            var circuit = TestCircuit(
                rules: .forTests(), state: .closed, since: StoreTime(100), epoch: 5, tripsInARow: 0)
            let report = OutcomeReport.failedUnread(self.report(Outage(time: 300), endedAt: ended))
            let found = circuit.apply(at: StoreTime(120)) {
                $0.apply(report, at: Moment(120), among: $1, claiming: { Circuit.Claim(token: $0, worker: 1) })
            }
            #expect(found == action)
        }
    }
}
