import Testing

@testable import BreakerStore

/// Calls with a deadline.
@Suite(.timeLimit(.minutes(10))) struct TimeoutTests {
    private let fixture: StoreFixture
    private let log = OutcomeLog()

    init() throws { self.fixture = try StoreFixture() }

    private func breaker(
        _ timeout: Duration, trip: TripRule = .failures(10, within: .seconds(60))
    ) throws
        -> CircuitBreaker
    {
        var calls = CallPolicy()
        calls.timeout = timeout
        calls.onOutcome = { [log] in log.add($0) }
        return try self.fixture.breaker(trip: trip, calls: calls)
    }

    @Test func aCallThatEndsInTimeIsLikeAnyOther() async throws {
        let breaker = try self.breaker(.seconds(30))
        #expect(try await breaker.run { 1 } == 1)
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(try await breaker.run({ nil as Int? }) == nil)
        #expect(try await breaker.run({ 1 }, failingWhen: { $0 == 1 }) == 1)
        #expect(self.log.results == [.succeeded, .failed, .succeeded, .failed])
        #expect(breaker.failureCount == 2)
    }

    /// The operation ends only when another handle has seen the failure.
    @Test func theFailureIsCommittedWhileTheOperationRuns() async throws {
        let breaker = try self.breaker(.seconds(1))
        self.fixture.pass(.seconds(1))
        let other = try CircuitStore(path: self.fixture.store.backend.file.path).breaker(breaker.config)
        var hasSeenFailure = false
        var hasSeenCancellation = false
        let error = await #expect(throws: CallTimeoutError.self) {
            try await breaker.run {
                hasSeenFailure = await eventually { other.failureCount == 1 }
                hasSeenCancellation = await eventually { Task.isCancelled }
            }
        }
        #expect(hasSeenFailure)
        #expect(hasSeenCancellation)
        #expect(error?.name == "a")
        #expect(error?.timeout == .seconds(1))
        #expect(breaker.failureCount == 1)
        #expect(self.log.results == [.failed])
    }

    @Test func theOperationsErrorAfterTheDeadlineIsNotReported() async throws {
        let breaker = try self.breaker(.seconds(1), trip: .consecutiveFailures(1))
        self.fixture.pass(.seconds(1))
        await #expect(throws: CallTimeoutError.self) {
            try await breaker.run { try await Task.sleep(for: .seconds(3_600)) }
        }
        let refusal = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(refusal?.lastError == "CallTimeoutError")
    }

    /// A probe's word counts only while its lease lasts, and another process may make the lease shorter.
    @Test(arguments: [(20, 10, 9), (30, 30, 27), (20, 21, 20)])
    func aProbeEndsBeforeTheStoredLease(_ timeout: Int, _ lease: Int, _ end: Int) async throws {
        var calls = CallPolicy()
        calls.timeout = .seconds(timeout)
        let breaker = try await self.fixture.dueBreaker(calls: calls)
        let other = try CircuitStore(path: self.fixture.store.path, configuration: self.fixture.store.configuration)
        defer { other.close() }
        var config = breaker.config
        config.probes.lease = .seconds(lease)
        _ = try other.breaker(config)
        self.fixture.pass(.seconds(end))
        let error = await #expect(throws: CallTimeoutError.self) {
            try await breaker.run { try await Task.sleep(for: .seconds(3_600)) }
        }
        #expect(error?.timeout == .seconds(end))
        #expect(try await self.fixture.store.history(of: "a").first?.kind == .reopened)
    }

    @Test func aTimeoutBeyondTheLeaseIsRefused() throws {
        var calls = CallPolicy()
        calls.timeout = .seconds(31)
        #expect { _ = try self.fixture.breaker(calls: calls) } throws: {
            ($0 as? BreakerStoreError)?.code == .invalidConfiguration
        }
        calls.timeout = .seconds(30)
        _ = try self.fixture.breaker(calls: calls)
    }

    @Test func theLongestTimeoutDoesNotEndAtOnce() async throws {
        var calls = CallPolicy()
        calls.timeout = .seconds(3_155_760_000)
        let breaker = try self.fixture.breaker(
            probes: ProbeRule(lease: .seconds(3_155_760_000)), calls: calls)
        let value = try await breaker.run {
            for _ in 0..<100 { await Task.yield() }
            try await Task.sleep(for: .milliseconds(5))
            return 1
        }
        #expect(value == 1)
    }
}
