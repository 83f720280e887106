import BreakerStore
import Testing

/// What an operation's end means to the circuit.
@Suite struct VerdictTests {
    @Test(arguments: [(Verdict.failure, 1), (.success, 0), (.ignored, 0)])
    func theErrorIsClassified(_ verdict: Verdict, _ count: Int) async throws {
        let fixture = try StoreFixture()
        var calls = CallPolicy()
        calls.classify = { _ in verdict }
        let breaker = try fixture.breaker(calls: calls)
        let before = fixture.commits
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(breaker.failureCount == count)
        // Only a failure is worth a commit.
        #expect(fixture.commits == before + UInt64(count))
    }

    @Test func aProbesErrorThatIsASuccessCloses() async throws {
        let fixture = try StoreFixture()
        let first = try await fixture.dueBreaker()
        var calls = CallPolicy()
        calls.classify = { _ in .success }
        let breaker = try fixture.store.breaker(first.config, calls: calls)
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(breaker.state == .closed)
    }

    @Test func theDescriptionIsCutAndStored() async throws {
        let fixture = try StoreFixture()
        var calls = CallPolicy()
        calls.describe = { _ in String(repeating: "é", count: 501) }
        let breaker = try fixture.breaker(trip: .consecutiveFailures(1), calls: calls)
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.lastError == String(repeating: "é", count: 500))
    }

    @Test func aSuccessForgetsFailuresInARow() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .consecutiveFailures(3))
        for _ in 0..<3 {
            for _ in 0..<2 {
                await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
            }
            fixture.clock.advance(by: .milliseconds(1))
            try await breaker.run {}
            #expect(breaker.failureCount == 0)
        }
        #expect(breaker.state == .closed)
    }

    @Test(arguments: [TripRule.consecutiveFailures(3), .failures(3, within: .seconds(60))])
    func aSuccessWithNothingToForgetWritesNothing(_ trip: TripRule) async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: trip)
        let before = fixture.commits
        for _ in 0..<10 {
            try await breaker.run {}
            try synchronously { try breaker.run {} }
            await breaker.recordSuccess()
            await (try await breaker.admit()).succeed()
        }
        #expect(fixture.commits == before)
    }

    @Test func aSuccessUnderTheWindowRuleWritesNothingThoughThereAreFailures() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        await breaker.recordFailure()
        let before = fixture.commits
        try await breaker.run {}
        await breaker.recordSuccess()
        #expect(fixture.commits == before)
        #expect(breaker.failureCount == 1)
    }
}
