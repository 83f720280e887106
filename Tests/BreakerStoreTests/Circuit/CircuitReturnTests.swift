import Testing

@testable import BreakerStore

/// How a half-open circuit lets more probes run after each round, and tolerates some that fail.
@Suite struct CircuitReturnTests {
    private static func halfOpen(
        limit: Int = 1, successes: Int, growth: Int = 1, tolerated: Double = 0
    ) -> TestCircuit {
        var rules = Rules.forTests()
        rules.probes = ProbeRule(
            limit: limit, successesToClose: successes, lease: .seconds(1), growth: growth, toleratedShare: tolerated)
        var circuit = TestCircuit(rules: rules, state: .open(until: StoreTime(0)), since: StoreTime(0), epoch: 0)
        circuit.tripsInARow = 1
        return circuit
    }

    /// How many calls get a slot at once.
    private static func fill(_ circuit: inout TestCircuit, _ tokens: inout [Int64]) -> Int {
        var claimed = 0
        while true {
            let token = Int64.random(in: .min ... .max)
            guard case .probe = circuit.arrive(at: 1, token: token) else { return claimed }
            tokens.append(token)
            claimed += 1
        }
    }

    /// The limit, the growth, the successes that close the circuit, and how many probes run at a time in each round.
    @Test(arguments: [
        (1, 2, 7, [1, 2, 4]), (1, 2, 8, [1, 2, 4, 8]), (1, 3, 13, [1, 3, 9]), (2, 2, 6, [2, 4]), (3, 1, 9, [3, 3, 3]),
        (1, 10_000, 2, [1, 10_000]), (10_000, 2, 10_000, [10_000]), (1, 2, 1, [1]),
    ])
    func roundsGrow(limit: Int, growth: Int, successes: Int, rounds: [Int]) {
        var circuit = Self.halfOpen(limit: limit, successes: successes, growth: growth)
        for (number, size) in rounds.enumerated() {
            var tokens: [Int64] = []
            #expect(Self.fill(&circuit, &tokens) == size, "round \(number)")
            #expect(circuit.arrive(at: 1, token: 0) == .refuse(.probing, until: nil))
            for token in tokens { _ = circuit.probeSucceeded(token: token, epoch: circuit.epoch, at: Moment(2)) }
        }
        #expect(circuit.state == .closed)
    }

    /// Within a round each success frees its own slot alone.
    @Test func aRoundGrowsAtItsEnd() {
        var circuit = Self.halfOpen(limit: 2, successes: 100, growth: 2)
        var tokens: [Int64] = []
        #expect(Self.fill(&circuit, &tokens) == 2)
        for expected in [1, 3, 1, 1, 1, 5] {
            #expect(
                circuit.probeSucceeded(token: tokens.removeFirst(), epoch: circuit.epoch, at: Moment(2)) == .counted)
            #expect(Self.fill(&circuit, &tokens) == expected)
        }
    }

    @Test func aFailureBeginsAgainWithTheLimit() {
        var circuit = Self.halfOpen(successes: 100, growth: 2)
        for token in 1...4 as ClosedRange<Int64> {
            _ = circuit.arrive(at: 1, token: token)
            _ = circuit.probeSucceeded(token: token, epoch: circuit.epoch, at: Moment(1))
        }
        var tokens: [Int64] = []
        #expect(Self.fill(&circuit, &tokens) == 4)
        #expect(circuit.probeFailed(token: tokens[0], epoch: circuit.epoch, error: "E", at: Moment(2)) == .reopened)
        circuit.state = .open(until: StoreTime(0))
        tokens = []
        #expect(Self.fill(&circuit, &tokens) == 1)
    }

    /// The successes to close, the share, and how many failures leave the circuit half-open.
    @Test(arguments: [
        (20, 0.1, 2), (10, 0.29, 2), (100, 0.29, 29), (10, 0.7, 7), (10, 0.3, 3), (3, 1 / 3, 1), (9, 0.1, 0),
        (1, 0.99, 0), (2, 0.5, 1), (10_000, 1.0.nextDown, 9_999), (10, 0, 0), (10, -0.0, 0),
        (10, .leastNonzeroMagnitude, 0),
    ])
    func toleratesAShare(successes: Int, share: Double, failures: Int) {
        var circuit = Self.halfOpen(successes: successes, tolerated: share)
        for number in 0..<Int64(failures) {
            #expect(circuit.arrive(at: 1, token: number) == .probe(token: number, epoch: circuit.epoch))
            #expect(circuit.probeFailed(token: number, epoch: circuit.epoch, error: "E", at: Moment(1)) == .counted)
        }
        #expect(circuit.probeFailures == failures)
        _ = circuit.arrive(at: 1, token: -1)
        #expect(circuit.probeFailed(token: -1, epoch: circuit.epoch, error: "last", at: Moment(1)) == .reopened)
        #expect(circuit.probeFailures == 0)
        #expect(circuit.tripsInARow == 2)
        #expect(circuit.lastError == "last")
    }

    /// Neither an ignored call nor a probe whose lease is over is a failure, and a success takes no failure back.
    @Test func onlyFailuresCount() {
        var circuit = Self.halfOpen(limit: 9, successes: 10, tolerated: 0.1)
        for token in 1...6 as ClosedRange<Int64> { _ = circuit.arrive(at: 1, token: token) }
        let epoch = circuit.epoch
        #expect(circuit.probeReleased(token: 1, epoch: epoch, at: Moment(2)) == .unchanged)
        #expect(circuit.probeFailed(token: 2, epoch: epoch, error: "E", at: Moment(1_000_001)) == .stale)
        #expect(circuit.probeFailures == 0)
        #expect(circuit.probeFailed(token: 3, epoch: epoch, error: "E", at: Moment(2)) == .counted)
        #expect(circuit.probeFailed(token: 3, epoch: epoch, error: "E", at: Moment(2)) == .stale)
        #expect(circuit.probeSucceeded(token: 4, epoch: epoch, at: Moment(2)) == .counted)
        #expect(circuit.state == .halfOpen(successes: 1) && circuit.probeFailures == 1)
        #expect(circuit.probeFailed(token: 5, epoch: epoch, error: "E", at: Moment(2)) == .reopened)
    }

    /// A service that says that it is down is not tried further.
    @Test(arguments: [nil, 7] as [Int64?]) func anOutageIsNotTolerated(time: Int64?) {
        var circuit = Self.halfOpen(successes: 10, tolerated: 0.9)
        _ = circuit.arrive(at: 1, token: 1)
        let action = circuit.probeFailed(
            token: 1, epoch: circuit.epoch, error: nil, outage: Outage(time: time), at: Moment(2))
        #expect(action == .reopened)
    }

    /// An operator's hold, a reset and a new stay begin without failures; new rules apply at once.
    @Test func aNewStayBeginsWithoutFailures() {
        let base = {
            var circuit = Self.halfOpen(successes: 10, tolerated: 0.1)
            _ = circuit.arrive(at: 1, token: 1)
            _ = circuit.probeFailed(token: 1, epoch: circuit.epoch, error: "E", at: Moment(1))
            return circuit
        }()
        #expect(base.probeFailures == 1)
        var held = base
        held.held(.closed, for: 5, by: nil, reason: nil, at: StoreTime(2))
        #expect(held.probeFailures == 0)
        var reset = base
        reset.reset(at: StoreTime(2), reason: nil)
        #expect(reset.probeFailures == 0)
        var stricter = base
        stricter.configured(.forTests(), change: "")
        _ = stricter.arrive(at: 2, token: 2)
        #expect(
            stricter.probeFailed(token: 2, epoch: stricter.epoch, error: "E", at: Moment(2)) == .reopened)
    }
}
