import Testing

@testable import BreakerStore

/// Calls that go well and are in no window of a rule, as no closed circuit let them through.
@Suite(.timeLimit(.minutes(10))) struct OutsideTheWindowTests {
    private let fixture: StoreFixture
    private var store: CircuitStore { self.fixture.store }

    init() throws { self.fixture = try StoreFixture() }

    private func breaker(
        _ trip: TripRule = .failureRate(0.5, minimumCalls: 10, within: .seconds(10))
    ) throws
        -> CircuitBreaker
    {
        try self.store.breaker(
            .init(
                name: "a", trip: trip,
                slow: SlowCallRule(longerThan: .seconds(1), share: 1, minimumCalls: 100, within: .seconds(60)),
                recovery: RecoveryRule(timeout: .seconds(30))))
    }

    private func call(_ breaker: CircuitBreaker, _ times: Int, fail: Bool = false) async {
        for _ in 0..<times { try? await breaker.run { if fail { throw CallFailure() } } }
    }

    /// The hold is over by itself: nobody has made a new epoch.
    @Test(arguments: [false, true]) func callsThroughACircuitThatIsHeldClosed(areRecorded: Bool) async throws {
        let core = try #require(self.fixture.core)
        let breaker = try self.breaker()
        try await self.store.hold("a", .closed, for: .seconds(5))
        if areRecorded {
            for _ in 0..<100 { await breaker.recordSuccess() }
        } else {
            await self.call(breaker, 100)
        }
        core.publishAllCounts()
        self.fixture.clock.advance(by: .seconds(6))
        #expect(try await self.store.circuit(named: "a")?.recent?.calls == 0)
        await self.call(breaker, 9, fail: true)
        #expect(breaker.state == .closed)
        await self.call(breaker, 1, fail: true)
        #expect(breaker.state.isOpen)
        #expect(breaker.totals.succeeded == 100)
    }

    /// A success that was reported without a permit may be a probe.
    @Test(arguments: [false, true]) func recordedSuccessesThatProbe(isAsync: Bool) async throws {
        let breaker = try self.breaker()
        await self.call(breaker, 10, fail: true)
        #expect(breaker.state.isOpen)
        // One that comes too early says nothing.
        for number in 1...8 {
            if number == 8 { self.fixture.clock.advance(by: .seconds(30)) }
            if isAsync { await breaker.recordSuccess() } else { synchronously { breaker.recordSuccess() } }
        }
        #expect(breaker.state == .closed)
        #expect(breaker.totals.succeeded == 8)
        #expect(try await self.store.circuit(named: "a")?.recent?.calls == 0)
        await breaker.recordSuccess()
        #expect(breaker.totals.succeeded == 9)
        #expect(try await self.store.circuit(named: "a")?.recent?.calls == 1)
    }

    /// Only a rule's own ring tells how many calls there were in its window.
    @Test func aWindowWithoutCallsHasNone() async throws {
        let core = try #require(self.fixture.core)
        let breaker = try self.breaker()
        await self.call(breaker, 3)
        core.publishAllCounts()
        self.fixture.clock.advance(by: .seconds(1))
        try await self.store.reset("a")
        let board = try #require(core.counting.board)
        let path = self.store.backend.file.path
        let incarnation = try #require(Foreign.number(path, "SELECT incarnation FROM circuit"))
        let id = try #require(Foreign.number(path, "SELECT id FROM circuit"))
        let windowGeneration = WindowGeneration(
            try #require(Foreign.number(path, "SELECT window_generation FROM circuit")))
        // Another program knows the slow rule alone.
        let other = try CircuitCells(
            ofID: id, incarnation: incarnation, CountingRules(slowWindow: 60_000_000), on: board,
            making: Board.RoomMaking(
                exclusively: { (_) throws(BreakerStoreError) in Issue.record("the cells are there") },
                mayGrow: { false }, incarnations: { nil }, growthFailed: {}))
        other.count(.slow, by: 9, windowGeneration: windowGeneration) { core.clock.uptime }
        let recent = try #require(try await self.store.circuit(named: "a")?.recent)
        #expect(recent.calls == 0 && recent.failed == 0)
        #expect(recent.slowCalls == 1 && recent.slow == 1)
    }
}
