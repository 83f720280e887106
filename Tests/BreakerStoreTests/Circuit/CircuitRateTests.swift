import Testing

@testable import BreakerStore

/// Rules that count shares of the calls, and circuits that only observe.
@Suite struct CircuitRateTests {
    private static func rate(_ share: Double, _ minimumCalls: Int) -> Rules {
        .forTests(.failureRate(share, minimumCalls: minimumCalls, within: .seconds(10)))
    }

    private static func counted(_ bad: Int64, of calls: Int64) -> Circuit.WindowCounts {
        Circuit.WindowCounts(failed: WindowCount(calls: calls, bad: bad))
    }

    /// Every share of up to 200 calls is reached when it is reached, and not one call before.
    @Test func eachRateIsReachedExactly() {
        for calls in 1...200 as ClosedRange<Int64> {
            for bad in 1...calls {
                let share = CallRate(share: Double(bad) / Double(calls), minimumCalls: 1)
                let isExact =
                    share.isReached(by: WindowCount(calls: calls, bad: bad))
                    && !share.isReached(by: WindowCount(calls: calls, bad: bad - 1))
                if !isExact { Issue.record("\(bad) of \(calls)") }
            }
        }
    }

    @Test(arguments: [
        (bad: 10, calls: 20, Circuit.ReportAction.tripped), (bad: 9, calls: 19, .counted),
        (bad: 19, calls: 19, .counted),
        (bad: 9, calls: 20, .counted), (bad: 20, calls: 20, .tripped), (bad: 0, calls: 0, .counted),
        (bad: 500, calls: 1_000, .tripped), (bad: 499, calls: 1_000, .counted),
    ])
    func tripsAtItsRateOfEnoughCalls(bad: Int64, calls: Int64, action: Circuit.ReportAction) {
        var circuit = TestCircuit(rules: Self.rate(0.5, 20), at: StoreTime(0))
        #expect(circuit.reach(Self.counted(bad, of: calls), at: 7) == action)
        #expect(circuit.machine.word == (action == .tripped ? "open" : "closed"))
        #expect(circuit.lastError == "E")
    }

    @Test func saysWhatItCounted() {
        var circuit = TestCircuit(rules: Self.rate(0.5, 20), at: StoreTime(0))
        _ = circuit.reach(Self.counted(14, of: 24), at: 7)
        #expect(circuit.machine.transitions.last?.reason == "14 of 24 calls (58.3 %) failed within 10 s, the last: E")
        #expect(circuit.trippedSince == StoreTime(7))
        var rules = Rules.forTests()
        rules.slow = SlowCallRule(longerThan: .seconds(2), minimumCalls: 1)
        circuit = TestCircuit(rules: rules, at: StoreTime(0))
        let slow = Circuit.WindowCounts(slow: WindowCount(calls: 1, bad: 1))
        #expect(circuit.reach(slow, at: 7) == .tripped)
        #expect(circuit.machine.transitions.last?.reason == "1 of 1 call (100 %) took longer than 2 s within 60 s")
    }

    /// A rule of failures goes on beside the slow calls.
    @Test func bothRulesTrip() {
        var rules = Rules.forTests()
        rules.slow = SlowCallRule(longerThan: .microseconds(5), minimumCalls: 4, within: .milliseconds(1))
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        #expect(circuit.reach(Circuit.WindowCounts(slow: WindowCount(calls: 3, bad: 3)), at: 1) == .counted)
        #expect(circuit.fail(at: 10, 1) == .counted)
        #expect(circuit.fail(at: 11, 2) == .counted)
        #expect(circuit.fail(at: 12, 3) == .tripped)
    }

    @Test func whatComesTooLateChangesNothing() {
        let all = Self.counted(20, of: 20)
        var circuit = TestCircuit(rules: Self.rate(0.5, 20), at: StoreTime(0))
        #expect(circuit.reach(all, at: 7, epoch: 99) == .stale)
        #expect(circuit.reach(all, at: 7) == .tripped)
        #expect(circuit.reach(all, at: 8) == .stale, "open")
        #expect(circuit.arrive(at: 1_000, token: 1) == .probe(token: 1, epoch: circuit.epoch))
        #expect(circuit.reach(all, at: 1_001) == .stale, "half-open")
        circuit = TestCircuit(rules: Self.rate(0.5, 20), at: StoreTime(0))
        circuit.hold = Circuit.Hold(state: .closed, since: StoreTime(1))
        #expect(circuit.reach(all, at: 7) == .stale, "held")
        circuit = TestCircuit(rules: .forTests(), at: StoreTime(0))
        #expect(circuit.reach(all, at: 7) == .counted, "another rule")
        #expect(circuit.reach(Circuit.WindowCounts(), at: 7) == .counted, "nobody knows")
    }

    @Test func enoughReportersMustHaveSeenIt() {
        var rules = Self.rate(0.5, 4)
        rules.minimumReporters = 3
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        #expect(circuit.reach(Self.counted(4, of: 4), at: 7, reporters: [1, 2]) == .counted)
        #expect(circuit.reach(Self.counted(4, of: 4), at: 8, reporters: [1, 2, 3], dead: [2, 3]) == .counted)
        // The dead do not count beside the living.
        #expect(circuit.reach(Self.counted(4, of: 4), at: 9, reporters: [1, 2, 3], dead: [3]) == .counted)
        #expect(circuit.reach(Self.counted(4, of: 4), at: 10, reporters: [1, 2, 3, 4], dead: [3]) == .tripped)
    }

    /// A failure has no row, and trips by itself only where the service says that it is down.
    @Test func aFailureIsNotKept() {
        var circuit = TestCircuit(rules: Self.rate(0.5, 1), at: StoreTime(0))
        #expect(circuit.fail(at: 1, 1) == .unchanged)
        #expect(circuit.failures.isEmpty)
        let report = Report(
            worker: 1, sequence: 2, epoch: circuit.epoch, at: StoreTime(2), error: "E", outage: Outage(time: 400))
        #expect(circuit.callFailed(report, at: Moment(2)) == .tripped)
        #expect(circuit.failures.isEmpty)
        #expect(circuit.state == .open(until: StoreTime(402)))
    }

    // MARK: - Observing

    @Test func anObservingCircuitLetsAllThrough() {
        var rules = Rules.forTests()
        rules.mode = .observing
        rules.probes.limit = 1
        var circuit = TestCircuit(rules: rules, at: StoreTime(0))
        for index in 1...3 as ClosedRange<Int64> { _ = circuit.fail(at: index, index) }
        #expect(circuit.machine.word == "open")
        #expect(circuit.answer(at: StoreTime(4), isAlive: { _ in true }) == .observe(until: StoreTime(503)))
        #expect(circuit.arrive(at: 4, token: 1) == .observe)
        #expect(circuit.arrive(at: 503, token: 2) == .probe(token: 2, epoch: circuit.epoch))
        #expect(circuit.arrive(at: 504, token: 3) == .observe)
        #expect(circuit.answer(at: StoreTime(504), isAlive: { _ in true }) == .observe(until: StoreTime(603)))
        #expect(circuit.answer(at: StoreTime(504), isAlive: { _ in false }) == .claim, "the prober is dead")
        circuit.hold = Circuit.Hold(state: .open, since: StoreTime(504))
        #expect(circuit.arrive(at: 505, token: 4) == .refuse(.held, until: nil), "an operator means it")
    }
}

extension TestCircuit {
    /// Says what was counted of the calls.
    fileprivate mutating func reach(
        _ counted: Circuit.WindowCounts, at now: Int64, epoch: Epoch? = nil, reporters: [WorkerID] = [1],
        dead: Set<WorkerID> = []
    ) -> Circuit.ReportAction {
        let failures = reporters.map { Circuit.Failure(at: StoreTime(now), worker: $0, sequence: 0) }
        return self.apply(at: StoreTime(now)) { circuit, _ in
            circuit.reachedRate(
                by: counted, epoch: epoch ?? circuit.epoch, error: "E", at: Moment(now), among: FailureList(failures)
            ) { !dead.contains($0) }
        }
    }
}
