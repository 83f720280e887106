import BreakerStore
import Testing

/// Reports without a permit, in each state.
@Suite struct RecordingTests {
    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture() }

    @Test func closedCountsFailures() async throws {
        let breaker = try self.fixture.breaker()
        await breaker.recordFailure(CallFailure())
        synchronously { breaker.recordFailure() }
        await breaker.recordSuccess()
        #expect(breaker.failureCount == 2)
        await breaker.recordFailure()
        #expect(!breaker.isCallPermitted)
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.lastError == "CallFailure")
    }

    @Test func aSuccessForgetsUnderTheConsecutiveRule() async throws {
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(3))
        await breaker.recordFailure()
        self.fixture.clock.advance(by: .milliseconds(1))
        await breaker.recordSuccess()
        #expect(breaker.failureCount == 0)
    }

    @Test func openBeforeItsTimeTakesNoReport() async throws {
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(1))
        await breaker.recordFailure()
        let before = self.fixture.commits
        await breaker.recordSuccess()
        await breaker.recordFailure()
        #expect(self.fixture.commits == before)
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.retryAfter == .seconds(30))
    }

    @Test(arguments: [true, false]) func dueClaimsAndReportsInOneStep(_ isAsync: Bool) async throws {
        let breaker = try await self.fixture.dueBreaker()
        let before = self.fixture.commits
        if isAsync { await breaker.recordSuccess() } else { synchronously { breaker.recordSuccess() } }
        #expect(self.fixture.commits == before + 1)
        #expect(breaker.state == .closed)
    }

    @Test(arguments: [true, false]) func dueOpensAgainOnFailure(_ isAsync: Bool) async throws {
        let breaker = try await self.fixture.dueBreaker()
        let before = self.fixture.commits
        if isAsync { await breaker.recordFailure() } else { synchronously { breaker.recordFailure() } }
        #expect(self.fixture.commits == before + 1)
        #expect(!breaker.isCallPermitted)
        self.fixture.clock.advance(by: .seconds(30))
        #expect(breaker.isCallPermitted)
    }

    @Test func halfOpenNeedsAFreeSlot() async throws {
        let breaker = try await self.fixture.dueBreaker(probes: ProbeRule(limit: 2, successesToClose: 2))
        let first = try await breaker.admit()
        await breaker.recordSuccess()
        #expect(breaker.state == .halfOpen)
        let second = try await breaker.admit()
        await breaker.recordFailure()
        #expect(breaker.state == .halfOpen)
        await first.succeed()
        #expect(breaker.state == .closed)
        await second.fail()
        #expect(breaker.state == .closed)
    }

    @Test func ignoredErrorsAreNoReports() async throws {
        let breaker = try await self.fixture.dueBreaker()
        let before = self.fixture.commits
        await breaker.recordFailure(CancellationError())
        #expect(self.fixture.commits == before)
    }
}
