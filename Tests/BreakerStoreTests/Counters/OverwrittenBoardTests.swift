import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Somebody, or a bad disk, writes over the cells of a board whose header stays whole.
@Suite(.timeLimit(.minutes(10))) struct OverwrittenBoardTests {
    /// What the words of the cells become.
    enum Damage: CaseIterable {
        case none
        case ones, random, highest, lowest, zeros
        /// As the others, but keys stay.
        case onesBehindKeys, randomBehindKeys
        /// Words of all ticks of the past and of the future, with the greatest numbers.
        case forgedTicks
    }

    private static func write(
        _ damage: Damage, to board: Board, windowGeneration: WindowGeneration, uptime: Uptime
    ) throws {
        var random = SplitMix64(seed: 15)
        for kind in BoardKind.allCases {
            for segment in try board.segments(mappingNew: true) where segment.kind == kind {
                for place in 0..<segment.capacity {
                    let cell = segment.cell(at: place)
                    if damage == .none { continue }
                    if damage == .forgedTicks {
                        guard kind == .ring || kind == .reporters, cell[0] != 0 else { continue }
                        let tick = WindowTicks(window: 16_000_000).tick(at: uptime, inGeneration: windowGeneration)
                        for word in CellKey.words..<kind.words {
                            let distance = UInt64(
                                truncatingIfNeeded: [1, 2, 17, 1 << 34, -1, -16, -17, -(1 << 34)][word % 8])
                            cell[word] = TickWord(tick: (tick &+ distance) & TickWord.lastTick, number: .max).raw
                        }
                        continue
                    }
                    let isKeyKept = damage == .onesBehindKeys || damage == .randomBehindKeys
                    for word in (isKeyKept ? CellKey.words : 0)..<kind.words {
                        switch damage {
                        case .ones, .onesBehindKeys: cell[word] = .max
                        case .random, .randomBehindKeys: cell[word] = random.next()
                        case .highest: cell[word] = UInt64(Int64.max)
                        case .lowest: cell[word] = UInt64(bitPattern: .min)
                        case .zeros, .forgedTicks, .none: cell[word] = 0
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: Damage.allCases) func nobodyDiesAndTheCircuitGuardsAgain(damage: Damage) async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let core = try #require(fixture.core)
        var policy = CallPolicy()
        policy.measuresDurations = true
        func breaker(_ name: String) throws -> CircuitBreaker {
            try store.breaker(
                .init(
                    name: name, trip: .failureRate(0.5, minimumCalls: 10, within: .seconds(16)),
                    slow: SlowCallRule(longerThan: .seconds(1), share: 0.5, minimumCalls: 10, within: .seconds(16)),
                    recovery: RecoveryRule(timeout: .seconds(30))),
                calls: policy)
        }
        func look() async throws {
            _ = try await store.circuits()
            _ = try await store.workers()
            _ = try await store.facts()
            let totals = try breaker("a").totals
            _ = totals.durations?.sum
            let board = try #require(BoardReader(at: store.backend.file.board))
            _ = (board.totals(), board.degraded())
        }
        let a = try breaker("a")
        for _ in 0..<3 { try? await a.run { throw CallFailure() } }
        for _ in 0..<3 { try await a.run {} }
        core.publishAllCounts()
        let board = try #require(core.counting.board)
        board.setDegraded(WorkerID(1 << 40), since: 5, isAlive: { _ in true })
        try Self.write(
            damage, to: board,
            windowGeneration: WindowGeneration(
                try #require(Foreign.number(store.backend.file.path, "SELECT window_generation FROM circuit"))),
            uptime: core.clock.uptime)
        try await look()
        for second in 1...40 {
            for _ in 0..<2 { try? await a.run {} }
            try? await a.run { fixture.clock.advance(by: .milliseconds(1_100)) }
            if second % 3 == 0 { try? await a.run { throw CallFailure() } }
            core.publishAllCounts()
            core.saveCountersIfDue()
            board.setDegraded(WorkerID(1 << 41), since: Uptime(microseconds: Int64(second)), isAlive: { _ in false })
            // Circuits that come meanwhile.
            let other = try breaker("circuit-\(second)")
            try? await other.run { throw CallFailure() }
            try await look()
        }
        // Whatever the damage has led to is over: the circuit lets calls through, and trips when it must.
        fixture.clock.advance(by: .seconds(60))
        for _ in 0..<3 {
            try? await a.run {}
            core.publishAllCounts()
            fixture.clock.advance(by: .seconds(31))
        }
        core.publishAllCounts()
        fixture.clock.advance(by: .seconds(31))
        #expect(a.state == .closed)
        for _ in 0..<9 { try? await a.run { throw CallFailure() } }
        #expect(a.state == .closed, "the least number of calls is ten")
        for _ in 0..<12 { try? await a.run { throw CallFailure() } }
        #expect(a.state.isOpen)
        #expect(fixture.isHealthy)
    }
}
