import BreakerStore
import Testing

/// An operation goes through a circuit of its own, which refuses: the service of the outer circuit was not called.
@Suite(.timeLimit(.minutes(10))) struct InnerRefusalTests {
    private let fixture: StoreFixture
    private let inner: CircuitBreaker
    private let log = OutcomeLog()

    init() throws {
        self.fixture = try StoreFixture()
        self.inner = try self.fixture.breaker("inner")
        try synchronously { try self.inner.hold(.open) }
    }

    /// The ways in which the outer circuit gets the refusal.
    enum Form: CaseIterable {
        case run, runWithTimeout, runSynchronously, value, valueSynchronously
        case fail, failSynchronously, failLater, record, recordSynchronously
    }

    private func calls(_ change: (inout CallPolicy) -> Void = { _ in }) -> CallPolicy {
        var calls = CallPolicy()
        calls.onOutcome = { [log] in log.add($0) }
        change(&calls)
        return calls
    }

    private var refusal: CircuitOpenError {
        get throws { try #require(throws: CircuitOpenError.self) { try synchronously { try self.inner.run {} } } }
    }

    private func refused(_ outer: CircuitBreaker, _ form: Form) async throws {
        let refusal = try self.refusal
        switch form {
        case .run, .runWithTimeout:
            let error = await #expect(throws: CircuitOpenError.self) {
                try await outer.run { try await self.inner.run {} }
            }
            #expect(error?.name == "inner")
        case .runSynchronously:
            let error = #expect(throws: CircuitOpenError.self) {
                try synchronously { try outer.run { try self.inner.run {} } }
            }
            #expect(error?.name == "inner")
        case .value: #expect(try await outer.run({ 1 }, failure: { _ in refusal }) == 1)
        case .valueSynchronously: #expect(try synchronously { try outer.run({ 1 }, failure: { _ in refusal }) } == 1)
        case .fail: await (try await outer.admit()).fail(refusal)
        case .failSynchronously: try synchronously { try outer.admit().fail(refusal) }
        case .failLater: try await outer.admit().failLater(refusal)
        case .record: await outer.recordFailure(refusal)
        case .recordSynchronously: synchronously { outer.recordFailure(refusal) }
        }
    }

    @Test(
        arguments: Form.allCases,
        [
            TripRule.failures(3, within: .seconds(60)), .consecutiveFailures(3),
            .failureRate(1, minimumCalls: 3, within: .seconds(60)),
        ])
    func noRuleCountsThem(_ form: Form, _ trip: TripRule) async throws {
        let calls = self.calls { $0.timeout = form == .runWithTimeout ? .seconds(3) : nil }
        let outer = try self.fixture.breaker("outer", trip: trip, calls: calls)
        let commits = self.fixture.commits
        for _ in 0..<3 { try await self.refused(outer, form) }
        #expect(self.fixture.commits == commits)
        #expect(outer.state == .closed)
        #expect(outer.failureCount == 0)
        #expect(self.log.results == [.ignored, .ignored, .ignored])
        #expect(outer.totals == CallTotals(ignored: 3))
    }

    /// The operation may have waited long before the inner circuit refused.
    @Test func theyAreNeverSlow() async throws {
        let slow = SlowCallRule(longerThan: .seconds(1), share: 1, minimumCalls: 3, within: .seconds(60))
        let outer = try self.fixture.store.breaker(.init(name: "outer", slow: slow))
        for _ in 0..<3 {
            await #expect(throws: CircuitOpenError.self) {
                try await outer.run {
                    self.fixture.clock.advance(by: .seconds(2))
                    try await self.inner.run {}
                }
            }
        }
        #expect(outer.state == .closed)
        #expect(outer.totals.slow == 0 && outer.totals.ignored == 3)
    }

    @Test(arguments: Form.allCases.filter { $0 != .record && $0 != .recordSynchronously })
    func aProbesSlotIsFree(_ form: Form) async throws {
        let calls = self.calls { $0.timeout = form == .runWithTimeout ? .seconds(3) : nil }
        let outer = try await self.fixture.dueBreaker("outer", calls: calls)
        try await self.refused(outer, form)
        // `failLater` is committed by the store's thread.
        #expect(await eventually { outer.isCallPermitted })
        #expect(outer.state == .halfOpen)
        try await outer.run {}
        #expect(outer.state == .closed)
    }

    /// While the file can't be used, too.
    @Test func aProbesSlotIsFreeInMemory() async throws {
        let outer = try self.fixture.breaker("outer", trip: .consecutiveFailures(1))
        let refusal = try self.refusal
        self.fixture.store.close()
        await outer.recordFailure(CallFailure())
        self.fixture.clock.advance(by: .seconds(30))
        await #expect(throws: CircuitOpenError.self) { try await outer.run { throw refusal } }
        #expect(outer.state == .halfOpen)
        try await outer.run {}
        #expect(outer.state == .closed)
    }

    @Test func theyAreNotTriedAgain() async throws {
        let calls = self.calls { $0.retry = .constant(maxRetries: 3, delay: .zero) }
        let outer = try self.fixture.breaker("outer", calls: calls)
        try await self.refused(outer, .run)
        try await self.refused(outer, .runSynchronously)
        try await self.refused(outer, .value)
        #expect(self.log.results == [.ignored, .ignored, .ignored])
        #expect(!calls.retryIf(try self.refusal))
    }

    @Test func aRetryIfOfYourOwnDecides() async throws {
        let calls = self.calls {
            $0.retry = .constant(maxRetries: 1, delay: .zero)
            $0.retryIf = { $0 is CircuitOpenError }
        }
        let outer = try self.fixture.breaker("outer", calls: calls)
        try await self.refused(outer, .run)
        try await self.refused(outer, .runSynchronously)
        #expect(self.log.results == [.ignored, .ignored, .ignored, .ignored])
    }

    /// The fallback of the outer circuit is given each refusal; a `classify` of your own says only what counts.
    @Test(arguments: [nil, Verdict.failure, .ignored])
    func theFallbackGetsThem(_ verdict: Verdict?) async throws {
        let calls = self.calls { if let verdict { $0.classify = { _ in verdict } } }
        let outer = try self.fixture.breaker("outer", trip: .failures(100, within: .seconds(60)), calls: calls)
        let refusal = try self.refusal
        func name(_ error: any Error) -> String { (error as? CircuitOpenError)?.name ?? "another error" }
        func call() async throws -> String { try await self.inner.run { "value" } }
        func callSynchronously() throws -> String { try self.inner.run { "value" } }
        func fallback(_ error: any Error) async -> String { name(error) }

        #expect(try await outer.run({ try await call() }, fallback: fallback) == "inner")
        #expect(try await outer.run({ try await call() }, fallback: name) == "inner")
        #expect(try synchronously { try outer.run({ try callSynchronously() }, fallback: name) } == "inner")
        #expect(try await outer.run({ "value" }, failure: { _ in refusal }, fallback: fallback) == "inner")
        #expect(outer.failureCount == (verdict == .failure ? 4 : 0))
        #expect(outer.state == .closed)
    }

    /// A service that answers from its own store when another refuses has answered.
    @Test func aSuccessOfYourOwnClassifyIsThrownAsItIs() async throws {
        let calls = self.calls { $0.classify = { $0 is CircuitOpenError ? .success : .failure } }
        let outer = try self.fixture.breaker("outer", calls: calls)
        await #expect(throws: CircuitOpenError.self) {
            try await outer.run({ try await self.inner.run {} }, fallback: { _ in })
        }
        #expect(self.log.results == [.succeeded])
    }

    @Test func aClassifyOfYourOwnMayCountThem() async throws {
        let calls = self.calls { $0.classify = { _ in .failure } }
        let outer = try self.fixture.breaker("outer", calls: calls)
        for _ in 0..<3 { try await self.refused(outer, .run) }
        #expect(outer.state.isOpen)
        #expect(try await outer.snapshot().lastError == "CircuitOpenError")
    }

    /// The operation calls its own circuit again: the inner call of a probe finds the slot taken.
    @Test func aProbeThatIsRefusedByItsOwnCircuitIsNoFailure() async throws {
        let outer = try await self.fixture.dueBreaker("outer")
        let error = await #expect(throws: CircuitOpenError.self) {
            try await outer.run { try await outer.run {} }
        }
        #expect(error?.cause == .probing)
        #expect(outer.isCallPermitted && outer.state == .halfOpen)
    }
}
