import Testing

@testable import BreakerStore

/// What the machine makes of a service's word that it is down.
@Suite struct CircuitOutageTests {
    private func report(
        _ outage: Outage, by worker: Int64 = 1, endedAt ended: Int64 = 100, epoch: Int64 = 0
    ) -> Report {
        Report(
            worker: worker, sequence: 7, epoch: epoch, at: StoreTime(ended), error: "E", outage: outage)
    }

    /// The machine as a transaction uses it: the first telling of a report is not known yet.
    private func fail(
        _ circuit: inout CircuitInMemory, _ report: Report, at now: Int64, alive: Set<Int64> = [1, 2]
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

    /// The cap never shortens the recovery time: a service that asks for more is not left alone for less.
    @Test(arguments: [(400, 500), (500, 600), (900, 600)] as [(Int64, Int64)])
    func theCapCutsTheTime(_ time: Int64, _ due: Int64) {
        var circuit = self.circuit { $0.cap = 50 }
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
        var circuit = self.circuit { $0.cap = 10_000_000 }
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

    @Test func anOutageFromOneWorkerIsAnOrdinaryFailureWhereTwoAreAsked() {
        var circuit = self.circuit { $0.minimumReporters = 2 }
        #expect(self.fail(&circuit, self.report(Outage(time: 300), by: 1), at: 100) == .counted)
        #expect(circuit.circuit.state == .closed)
        #expect(circuit.failures.failures.count == 1)
        #expect(self.fail(&circuit, self.report(Outage(time: 300), by: 2), at: 100) == .tripped)
        #expect(circuit.circuit.state == .open(until: StoreTime(400)))
    }

    /// An ordinary failure of another worker, then the word: two reporters, though far from the threshold.
    @Test func anotherWorkersFailureIsAReporterToo() {
        var circuit = self.circuit {
            $0.minimumReporters = 2
            $0.trip = .failures(50, window: 1_000)
        }
        let failure = Report(worker: 2, sequence: 1, epoch: 0, at: StoreTime(90), error: "E")
        #expect(self.fail(&circuit, failure, at: 90) == .counted)
        #expect(self.fail(&circuit, self.report(Outage(time: 300), by: 1), at: 100) == .tripped)
    }

    @Test(arguments: [(2_000, 2_200), (nil, 1_200), (0, 200), (20_000, 10_200)] as [(Int64?, Int64)])
    func aProbeReopensForTheTime(_ time: Int64?, _ due: Int64) {
        var circuit = TestCircuit(
            rules: .forTests(), state: .open(until: StoreTime(150)), since: StoreTime(0), epoch: 0, tripsInARow: 1)
        guard case .probe(let token, let epoch) = circuit.arrive(at: 200, token: 3) else {
            Issue.record("no probe")
            return
        }
        let verdict = Verdict.outage(for: time.map { .microseconds($0) })
        let action = circuit.apply(at: StoreTime(200)) { machine, _ in
            machine.probeEnded(token: token, epoch: epoch, verdict, error: "E", at: Moment(200))
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
}
