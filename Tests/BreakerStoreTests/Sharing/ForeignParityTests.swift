import BreakerStore
import BreakerTestSupport
import Testing

/// What Python does to one circuit and Swift to another, at the same times, leaves the same rows.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ForeignParityTests {
    private enum Step: String, CustomStringConvertible {
        case fail, succeed, admit, probeSucceeds, probeFails, reset, holdOpen, holdClosed, holdBriefly, release, probe
        case waitABit, waitForTheWindow, waitForTheRecovery

        /// Operators are rare, or no circuit would ever trip.
        static let often: [Self] = [
            Array(repeating: .fail, count: 10), Array(repeating: .succeed, count: 4),
            Array(repeating: .admit, count: 4),
            [.probeSucceeds, .probeSucceeds, .probeFails, .waitABit, .waitForTheWindow],
            Array(repeating: .waitForTheRecovery, count: 3),
            [.reset, .holdOpen, .holdClosed, .holdBriefly, .release, .release, .probe, .probe],
        ].flatMap(\.self)
        var description: String { self.rawValue }
    }

    /// The circuit that Swift changes, and the one that Python changes; only workers probe, so Swift does for both.
    private struct Pair {
        let swift: CircuitBreaker
        let python: CircuitBreaker
    }

    @Test(arguments: [TripRule.failures(3, within: .seconds(60)), .consecutiveFailures(3)], 1...2)
    func rowsAreAlike(trip: TripRule, seed: UInt64) async throws {
        let place = try Workplace.here
        var configuration = CircuitStore.Configuration()
        configuration.clock = place.clock
        configuration.busyTimeout = .hangLimit
        configuration.durability = .processCrash
        let store = try CircuitStore(path: place.store, configuration: configuration)
        defer { store.close() }
        let recovery = RecoveryRule(timeout: .seconds(30), multiplier: 2, cap: .seconds(100), jitter: 0)
        let probes = ProbeRule(limit: 1, successesToClose: 2, lease: .seconds(45))
        let pair = Pair(
            swift: try store.breaker(.init(name: "s", trip: trip, recovery: recovery, probes: probes)),
            python: try store.breaker(.init(name: "p", trip: trip, recovery: recovery, probes: probes))
        )
        let python = try await ForeignProgram.open(in: place)
        try await python.ask("register shop.py")
        let witness = try place.worker()

        var random = SplitMix64(seed: seed)
        var permits: [CallPermit] = []
        var steps: [Step] = []
        for _ in 0..<50 {
            let step = random.pick(Step.often) ?? .fail
            steps.append(step)
            try await self.perform(step, pair, store, python, place.clock, &permits)
            let rows = try await self.rows(witness, place)
            try #require(rows.hasPrefix("row=1,"), "after \(steps): \(rows)")
        }
        for permit in permits { permit.discard() }
    }

    private func perform(
        _ step: Step,
        _ pair: Pair,
        _ store: CircuitStore,
        _ python: WorkerProcess,
        _ clock: SharedClock,
        _ permits: inout [CallPermit]
    ) async throws {
        switch step {
        case .fail, .succeed:
            // Whatever is not closed may be due, and Swift would probe.
            if pair.swift.state == .closed {
                _ = try? await pair.swift.run { if step != .succeed { throw CallFailure() } }
            }
            try await python.ask("call p 1 \(step == .succeed ? "succeed" : "fail")")
        case .admit:
            guard permits.isEmpty, pair.swift.state != .closed else { return }
            for breaker in [pair.swift, pair.python] {
                if let permit = try? await breaker.admit() { permits.append(permit) }
            }
        case .probeSucceeds, .probeFails:
            for permit in permits {
                if step == .probeSucceeds { await permit.succeed() } else { await permit.fail(CallFailure()) }
            }
            permits.removeAll()
        case .reset:
            try await pair.swift.reset(by: "ann", reason: "reset-in-python")
            try await python.ask("reset p ann")
        case .holdOpen, .holdClosed:
            let state: HoldState = step == .holdOpen ? .open : .closed
            try await store.hold("s", state, by: "ann", reason: "held-in-python")
            try await python.ask("hold p \(state.rawValue) 0 ann")
        case .holdBriefly:
            try await store.hold("s", .open, for: .seconds(5), by: "ann", reason: "held-in-python")
            try await python.ask("hold p open 5 ann")
        case .release:
            try await store.release("s", by: "bob", reason: "released-in-python")
            try await python.ask("release p bob")
        case .probe:
            try await store.probe("s", by: "bob", reason: "probed-in-python")
            try await python.ask("probe p bob")
        case .waitABit: clock.advance(by: .seconds(5))
        case .waitForTheWindow: clock.advance(by: .seconds(60))
        case .waitForTheRecovery: clock.advance(by: .seconds(30))
        }
    }

    /// How many different rows there are, and which: all that two circuits can have in common.
    private func rows(_ witness: WorkerProcess, _ place: Workplace) async throws -> String {
        let query = """
            SELECT count(DISTINCT row), group_concat(row, ' | ') FROM (
            SELECT json_array(state, since, epoch, open_until, successes, trips, forgotten_until, last_error IS NULL,
            hold, hold_since, hold_until, hold_by, hold_reason,
            (SELECT group_concat(at) FROM (SELECT at FROM failure WHERE failure.circuit = circuit.id ORDER BY at)),
            (SELECT group_concat(since || '-' || lease_ends) FROM probe WHERE probe.circuit = circuit.id),
            (SELECT group_concat(kind || ' ' || at || ' ' || was || ' ' || becomes || ' ' || coalesce(operator, ''))
            FROM (SELECT * FROM event WHERE event.circuit = circuit.name ORDER BY id))) AS row
            FROM circuit ORDER BY name)
            """
        return try await witness.ask("query \(place.store) \(query.replacing("\n", with: " "))").description
    }
}
