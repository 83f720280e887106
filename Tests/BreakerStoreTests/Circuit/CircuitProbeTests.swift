import Testing

@testable import BreakerStore

/// Probes: how many, how long, and which of their results count.
@Suite struct CircuitProbeTests {
    /// Half-open with no probes, at 1,000.
    private func halfOpen(_ change: (inout Rules) -> Void = { _ in }) -> TestCircuit {
        var rules = Rules.forTests()
        change(&rules)
        return TestCircuit(
            rules: rules,
            state: .halfOpen(successes: 0),
            since: StoreTime(1_000),
            epoch: 1_000,
            failures: [Circuit.Failure(at: StoreTime(400), worker: 1, sequence: 1)],
            tripsInARow: 1
        )
    }

    @Test func noMoreThanTheLimitProbeAtATime() {
        var circuit = self.halfOpen { $0.probeLimit = 3 }
        for token in 1...3 as ClosedRange<Int64> {
            #expect(circuit.arrive(at: 1_000, token: token) == .probe(token: token, epoch: 1_000))
        }
        let full = circuit
        #expect(circuit.arrive(at: 1_001, token: 4) == .refuse(.probing, until: nil))
        #expect(circuit == full, "a refusal writes nothing")
        #expect(circuit.probeReleased(token: 2, epoch: 1_000, at: Moment(1_001)) == .unchanged)
        #expect(circuit.arrive(at: 1_002, token: 5) == .probe(token: 5, epoch: 1_000))
        #expect(circuit.arrive(at: 1_002, token: 6) == .refuse(.probing, until: nil))
    }

    @Test func theSlotOfADeadProberIsFreeAtOnce() {
        var circuit = self.halfOpen { $0.probeLimit = 1 }
        #expect(circuit.arrive(at: 1_000, token: 1, worker: 7, alive: [7, 8]) == .probe(token: 1, epoch: 1_000))
        #expect(circuit.arrive(at: 1_000, token: 2, worker: 8, alive: [7, 8]) == .refuse(.probing, until: nil))
        #expect(circuit.arrive(at: 1_000, token: 2, worker: 8, alive: [8]) == .probe(token: 2, epoch: 1_000))
        #expect(circuit.probes.map(\.token) == [2])
        #expect(circuit.transitions.isEmpty, "no verdict")
    }

    @Test func aLeaseThatRanOutLeavesATraceAndNoVerdict() {
        var circuit = self.halfOpen { $0.probeLimit = 1 }
        #expect(circuit.arrive(at: 1_000, token: 1) == .probe(token: 1, epoch: 1_000))
        #expect(circuit.arrive(at: 1_099, token: 2) == .refuse(.probing, until: nil))
        #expect(circuit.arrive(at: 1_100, token: 2) == .probe(token: 2, epoch: 1_000))
        #expect(circuit.transitions.map(\.kind) == [.probeExpired])
        #expect(circuit.probeFailed(token: 1, epoch: 1_000, error: "E", at: Moment(1_101)) == .stale)
        #expect(circuit.probeSucceeded(token: 1, epoch: 1_000, at: Moment(1_101)) == .stale)
        #expect(circuit.probes.map(\.token) == [2])
        #expect(circuit.lastError == nil)
    }

    @Test func aReportIsStaleByTimeEvenIfNobodyTookTheSlot() {
        for late in [0, 1, 1_000_000] as [Int64] {
            var circuit = self.halfOpen { $0.successesToClose = 1 }
            _ = circuit.arrive(at: 1_000, token: 1)
            #expect(circuit.probeSucceeded(token: 1, epoch: 1_000, at: Moment(1_100 + late)) == .stale)
            #expect(circuit.state == .halfOpen(successes: 0))
            #expect(circuit.epoch == 1_000)
        }
        var circuit = self.halfOpen { $0.successesToClose = 1 }
        _ = circuit.arrive(at: 1_000, token: 1)
        #expect(circuit.probeSucceeded(token: 1, epoch: 1_000, at: Moment(1_099)) == .closed)
    }

    @Test func enoughSuccessesClose() {
        var circuit = self.halfOpen { $0.successesToClose = 3 }
        for (token, action) in [(1, .counted), (2, .counted), (3, .closed)] as [(Int64, Circuit.ReportAction)] {
            _ = circuit.arrive(at: 1_000, token: token)
            #expect(circuit.probeSucceeded(token: token, epoch: 1_000, at: Moment(1_001)) == action)
            #expect(circuit.probeSucceeded(token: token, epoch: 1_000, at: Moment(1_001)) == .stale, "once")
        }
        #expect(circuit.state == .closed)
        #expect(circuit.failures.isEmpty)
        #expect(circuit.tripsInARow == 0)
        #expect(circuit.epoch == 1_001)
    }

    @Test func lateResultsChangeNothing() {
        var circuit = self.halfOpen { $0.successesToClose = 1 }
        _ = circuit.arrive(at: 1_000, token: 1)
        _ = circuit.arrive(at: 1_000, token: 2)
        #expect(circuit.probeFailed(token: 1, epoch: 1_000, error: "E", at: Moment(1_010)) == .reopened)
        let open = circuit
        let late = Report(worker: 1, sequence: 9, epoch: 1_000, at: StoreTime(1_005), error: "late")
        #expect(circuit.probeSucceeded(token: 2, epoch: 1_000, at: Moment(1_011)) == .stale)
        #expect(circuit.probeFailed(token: 2, epoch: 1_000, error: "late", at: Moment(1_011)) == .stale)
        #expect(circuit.probeReleased(token: 2, epoch: 1_000, at: Moment(1_011)) == .stale)
        #expect(circuit.callFailed(late, at: Moment(1_011)) == .stale)
        #expect(circuit.callSucceeded(late, at: Moment(1_011)) == .stale)
        let claim = Circuit.Claim(token: 3, worker: 1)
        #expect(circuit.recorded(late, failed: false, claiming: claim, at: Moment(9_000)) == .stale)
        #expect(circuit == open)
    }

    @Test func resultsFromBeforeAResetOrAHoldChangeNothing() {
        var circuit = TestCircuit(rules: .forTests(.failures(1, window: 10)), at: StoreTime(5))
        let late = Report(worker: 1, sequence: 9, epoch: circuit.epoch, at: StoreTime(6))
        circuit.reset(at: StoreTime(5), reason: nil)
        #expect(circuit.epoch == 6, "raised though the clock stood still")
        #expect(circuit.callFailed(late, at: Moment(6)) == .stale)
        let afterReset = Report(worker: 1, sequence: 9, epoch: circuit.epoch, at: StoreTime(6))
        circuit.held(.closed, for: nil, by: nil, reason: nil, at: StoreTime(6))
        let released = circuit.released(at: StoreTime(6), reason: nil)
        #expect(released)
        #expect(circuit.callFailed(afterReset, at: Moment(6)) == .stale)
        #expect(circuit.state == .closed)
    }
}
