import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

/// Retries, and what is told of each attempt.
@Suite(.timeLimit(.minutes(10))) struct RetryTests {
    private let fixture: StoreFixture
    private let log = OutcomeLog()

    init() throws { self.fixture = try StoreFixture() }

    private func breaker(
        retries: Int,
        delay: Duration = .zero,
        trip: TripRule = .failures(10, within: .seconds(60)),
        classify: (@Sendable (any Error) -> Verdict)? = nil
    ) throws -> CircuitBreaker {
        var calls = CallPolicy()
        calls.retry = .constant(maxRetries: retries, delay: delay)
        calls.onOutcome = { [log] in log.add($0) }
        if let classify { calls.classify = classify }
        return try self.fixture.breaker(trip: trip, calls: calls)
    }

    @Test func eachResultIsReportedOnce() async throws {
        var calls = CallPolicy()
        calls.onOutcome = { [log] in log.add($0) }
        let breaker = try self.fixture.breaker(trip: .failures(2, within: .seconds(60)), calls: calls)
        try await breaker.run {}
        try synchronously { try breaker.run {} }
        _ = try? await breaker.run { throw CancellationError() }
        _ = try? await breaker.run { throw CallFailure() }
        _ = try await breaker.run({ 1 }, failingWhen: { _ in true })
        _ = try? await breaker.run {}
        synchronously { _ = try? breaker.run {} }
        _ = try? await breaker.admit()
        #expect(
            self.log.results
                == [.succeeded, .succeeded, .ignored, .failed, .failed, .refused, .refused, .refused])
        #expect(self.log.circuits == ["a"])
        #expect(try #require(self.log.shortest) >= .zero)
    }

    /// The duration is the operation's alone, whatever the commits take; a refused call takes none.
    @Test func onlyTheOperationIsMeasured() async throws {
        var calls = CallPolicy()
        let described = Locked(Duration.zero)
        calls.onOutcome = { [log] in log.add($0) }
        calls.describe = { _ in
            let time = ContinuousClock().measure { usleep(200_000) }
            described.withLock { $0 = time }
            return "slow to describe"
        }
        let breaker = try self.fixture.breaker(trip: .failures(4, within: .seconds(60)), calls: calls)
        // Both times lie within the call's: they are longer than it if one of them is a part of the other.
        func expectApart(_ call: Duration) throws {
            let operation = try #require(self.log.durations.last)
            let description = described.withLock { $0 }
            #expect(operation > .zero && description >= .milliseconds(200))
            #expect(operation + description <= call, "\(operation), \(description), \(call)")
        }
        let clock = ContinuousClock()
        try expectApart(await clock.measure { _ = try? await breaker.run { throw CallFailure() } })
        try expectApart(clock.measure { synchronously { _ = try? breaker.run { throw CallFailure() } } })
        await (try await breaker.admit()).fail(CallFailure())
        await breaker.recordFailure(CallFailure())
        _ = try? await breaker.run {}
        _ = try? await breaker.admit()
        #expect(self.log.results == [.failed, .failed, .failed, .failed, .refused, .refused])
        #expect(self.log.durations.suffix(3) == [.zero, .zero, .zero])
    }

    /// What is reported without a permit is told, too, once.
    @Test func recordedResultsAreReported() async throws {
        var calls = CallPolicy()
        calls.onOutcome = { [log] in log.add($0) }
        calls.classify = { ($0 as? CallFailure)?.number == 1 ? .ignored : .failure }
        let breaker = try self.fixture.breaker(calls: calls)
        await breaker.recordSuccess()
        synchronously { breaker.recordSuccess() }
        await breaker.recordFailure(CallFailure(number: 1))
        synchronously { breaker.recordFailure() }
        #expect(self.log.results == [.succeeded, .succeeded, .ignored, .failed])
    }

    @Test func permitsReportOnce() async throws {
        var calls = CallPolicy()
        calls.onOutcome = { [log] in log.add($0) }
        let breaker = try self.fixture.breaker(calls: calls)
        let permit = try await breaker.admit()
        await permit.succeed()
        await permit.fail()
        permit.discard()
        let failed = try await breaker.admit()
        await failed.fail(CallFailure())
        _ = try await breaker.admit()
        #expect(self.log.results == [.succeeded, .failed, .ignored])
    }

    /// Some failures are for good, and some errors that are no failures of the service pass.
    @Test func retryIfSaysWhatIsWorthAnotherAttempt() async throws {
        var calls = CallPolicy(
            retry: .constant(maxRetries: 1, delay: .zero),
            classify: { ($0 as? CallFailure)?.number == 2 ? .ignored : .failure },
            describe: { "failure \(($0 as? CallFailure)?.number ?? 0)" })
        calls.onOutcome = { [log] in log.add($0) }
        #expect(calls.retryIf(CallFailure(number: 1)) && !calls.retryIf(CallFailure(number: 2)))
        calls.retryIf = { ($0 as? CallFailure)?.number != 1 }
        let breaker = try self.fixture.breaker(trip: .failures(100, within: .seconds(60)), calls: calls)
        for number in [1, 2, 3] {
            _ = try? await breaker.run { throw CallFailure(number: number) }
            synchronously { _ = try? breaker.run { throw CallFailure(number: number) } }
        }
        let once: [CallOutcome.Result] = [.failed, .failed]
        #expect(self.log.results == once + [.ignored, .ignored, .ignored, .ignored] + once + once)
        _ = try await breaker.run({ 1 }, failure: { _ in CallFailure(number: 1) })
        _ = try await breaker.run({ 1 }, failingWhen: { _ in true })
        #expect(self.log.results.dropFirst(10) == [.failed, .failed, .failed])
        #expect(try await self.fixture.store.circuit(named: "a")?.lastError == "Int")
    }

    @Test(arguments: [true, false]) func triesAsOftenAsAllowed(isAsync: Bool) async throws {
        let breaker = try self.breaker(retries: 3)
        var attempts = 0
        func fail() throws {
            attempts += 1
            throw CallFailure(number: attempts)
        }
        if isAsync {
            await #expect(throws: CallFailure(number: 4)) { try await breaker.run { try fail() } }
        } else {
            #expect(throws: CallFailure(number: 4)) { try synchronously { try breaker.run { try fail() } } }
        }
        #expect(attempts == 4)
        #expect(breaker.failureCount == 4)
        #expect(self.log.results == [.failed, .failed, .failed, .failed])
    }

    @Test(arguments: [(.ignored, .ignored), (.success, .succeeded)] as [(Verdict, CallOutcome.Result)])
    func anErrorThatIsNoFailureEndsIt(_ verdict: Verdict, _ result: CallOutcome.Result) async throws {
        let breaker = try self.breaker(retries: 5) { _ in verdict }
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(self.log.results == [result])
    }

    @Test func aValueThatCountsAsAFailureIsTriedAgain() async throws {
        let breaker = try self.breaker(retries: 2)
        var attempts = 0
        let value = try await breaker.run {
            attempts += 1
            return attempts
        } failingWhen: {
            $0 < 2
        }
        #expect(value == 2)
        #expect(try synchronously { try breaker.run({ 0 }, failingWhen: { $0 == 0 }) } == 0)
        #expect(self.log.results == [.failed, .succeeded, .failed, .failed, .failed])
    }

    /// The longer delay would outlast the test: when the circuit opens, there is nothing to wait for.
    @Test(arguments: [Duration.zero, .seconds(3_600)], [true, false])
    func stopsWhenTheCircuitOpens(_ delay: Duration, isAsync: Bool) async throws {
        let failures = delay == .zero ? 2 : 1
        let breaker = try self.breaker(retries: 5, delay: delay, trip: .consecutiveFailures(failures))
        var attempts = 0
        func fail() throws {
            attempts += 1
            throw CallFailure(number: attempts)
        }
        if isAsync {
            await #expect(throws: CallFailure.self) { try await breaker.run { try fail() } }
        } else {
            #expect(throws: CallFailure.self) { try synchronously { try breaker.run { try fail() } } }
        }
        #expect(attempts == failures)
        await #expect(throws: CircuitOpenError.self) { try await breaker.run { attempts += 1 } }
    }

    @Test func aRefusedFirstAttemptIsNotTriedAgain() async throws {
        let breaker = try self.breaker(retries: 5, trip: .consecutiveFailures(1))
        await breaker.recordFailure()
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(self.log.results == [.failed, .refused])
    }

    /// The caller gives up during the delay; the second one is the longest that the rule allows.
    @Test(arguments: [Duration.seconds(3_600), .seconds(3_155_760_000)])
    func cancellationEndsTheDelayWithTheOperationsError(_ delay: Duration) async throws {
        let breaker = try self.breaker(retries: 5, delay: delay)
        let task = Task {
            try await breaker.run { throw CallFailure(number: 7) }
        }
        #expect(await eventually { self.log.results == [.failed] })
        for _ in 0..<100 { await Task.yield() }
        #expect(self.log.results == [.failed])
        task.cancel()
        await #expect(throws: CallFailure(number: 7)) { try await task.value }
        #expect(breaker.failureCount == 1)
    }
}
