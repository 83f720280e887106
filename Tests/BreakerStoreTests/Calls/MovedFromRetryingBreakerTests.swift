import BreakerStore
import BreakerTestSupport
import Testing

/// What users of fe9lix/CircuitBreaker rely on, which has a test for each but the waits: a call that is retried when it
/// fails or takes too long, a circuit that trips when the retries are used up, says so, and recovers after a time.
///
/// There the breaker makes the call and is told of its end; here that is `run`, and a permit for callbacks.
@Suite(.timeLimit(.minutes(10))) struct MovedFromRetryingBreakerTests {
    private struct NotFound: Error {}

    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture() }

    /// One setting is both the number of retries and the threshold there.
    ///
    /// No time-out but where it is about one: its timer would sleep by the clock, too, beside the waits.
    private func breaker(
        retries: Int, delay: Duration = .seconds(2), timeout: Duration? = nil
    ) throws
        -> CircuitBreaker
    {
        var calls = CallPolicy()
        calls.timeout = timeout
        calls.retry = .constant(maxRetries: retries, delay: delay)
        return try self.fixture.breaker(trip: .consecutiveFailures(retries + 1), calls: calls)
    }

    /// As a client of callbacks: `done` is called once, by another thread.
    private func request(
        _ answer: Result<String, NotFound>, _ done: @escaping @Sendable (Result<String, NotFound>) -> Void
    ) {
        Task.detached { done(answer) }
    }

    @Test func aSuccessIsReturnedAndLeavesNothing() async throws {
        let breaker = try self.breaker(retries: 2)
        #expect(try await breaker.run { "data" } == "data")
        #expect(breaker.state == .closed)
        #expect(breaker.failureCount == 0)
    }

    /// There the slow call goes on beside the second one; here it is cancelled, and waited for.
    @Test func aCallThatTakesTooLongIsMadeAgain() async throws {
        let breaker = try self.breaker(retries: 2, timeout: .seconds(3))
        var failuresBefore: [Int] = []
        let value = try await breaker.run {
            failuresBefore.append(breaker.failureCount)
            if failuresBefore.count == 1 {
                // The time-out, once the first attempt has looked, and the wait before the second one.
                self.fixture.pass(.seconds(3), times: 2)
                try await Task.sleep(for: .seconds(3_600))
            }
            return failuresBefore.count
        }
        #expect(value == 2)
        #expect(failuresBefore == [0, 1])
        #expect(breaker.failureCount == 0)
        #expect(breaker.state == .closed)
    }

    @Test func aCallThatFailsIsMadeAgain() async throws {
        let breaker = try self.breaker(retries: 1)
        self.fixture.pass(.seconds(2))
        var attempts = 0
        let value = try await breaker.run {
            attempts += 1
            if breaker.failureCount == 0 { throw NotFound() }
            return "data"
        }
        #expect(value == "data")
        #expect(attempts == 2)
        #expect(breaker.state == .closed)
    }

    /// The n-th wait there is the base to the power of n: 2 s, then 4 s.
    @Test func theWaitsGrow() async throws {
        var calls = CallPolicy()
        calls.retry = .exponential(maxRetries: 2, delay: .seconds(2), multiplier: 2)
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(3), calls: calls)
        let clock = self.fixture.clock
        let starts = Locked<[Duration]>([])
        let call = Task {
            try await breaker.run {
                starts.withLock { $0.append(clock.uptime) }
                throw NotFound()
            }
        }
        for wait in [2, 4] {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(wait) - .milliseconds(1))
            // It sleeps still.
            await clock.waitForSleepers()
            clock.advance(by: .milliseconds(1))
        }
        await #expect(throws: NotFound.self) { try await call.value }
        let first = starts.withLock { $0[0] }
        #expect(starts.withLock { $0.map { $0 - first } } == [.zero, .seconds(2), .seconds(6)])
    }

    @Test func itTripsWhenTheRetriesAreUsedUp() async throws {
        let breaker = try self.breaker(retries: 2, delay: .seconds(1))
        var events = self.fixture.store.events().makeAsyncIterator()
        self.fixture.pass(.seconds(1), times: 2)
        var attempts = 0
        await #expect(throws: NotFound.self) {
            try await breaker.run {
                attempts += 1
                throw NotFound()
            }
        }
        #expect(attempts == 3)
        guard case .open = breaker.state else {
            Issue.record("\(breaker.state)")
            return
        }
        #expect(breaker.failureCount == 3)
        // There a closure is called with the error; here an event comes, and whoever calls gets an error.
        var event = await events.next()
        while let other = event, other.kind != .tripped { event = await events.next() }
        #expect(event?.circuit == "a")
        let refusal = await #expect(throws: CircuitOpenError.self) { try await breaker.run { attempts += 1 } }
        #expect(refusal?.lastError == "NotFound")
        #expect(attempts == 3)
        try await breaker.reset()
        #expect(breaker.state == .closed)
        #expect(breaker.failureCount == 0)
    }

    @Test func aSuccessAfterTheRecoveryTimeClosesIt() async throws {
        let breaker = try self.breaker(retries: 1, delay: .seconds(1))
        self.fixture.pass(.seconds(1))
        await #expect(throws: NotFound.self) { try await breaker.run { throw NotFound() } }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        self.fixture.clock.advance(by: .seconds(30))
        #expect(breaker.isCallPermitted)
        let value = try await breaker.run {
            // Others are refused meanwhile; there all calls are made.
            #expect(breaker.state == .halfOpen)
            #expect(!breaker.isCallPermitted)
            return "data"
        }
        #expect(value == "data")
        #expect(breaker.state == .closed)
        #expect(breaker.failureCount == 0)
    }

    /// There the call's own callback says how it ended; a permit does that here, and is not retried.
    @Test func callbacksTellHowACallEnded() async throws {
        let breaker = try self.breaker(retries: 1)
        for _ in 0..<2 {
            let permit = try await breaker.admit()
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                self.request(.failure(NotFound())) { answer in
                    switch answer {
                    case .success: permit.succeed()
                    case .failure(let error): permit.fail(error)
                    }
                    continuation.resume()
                }
            }
        }
        #expect(breaker.failureCount == 2)
        await #expect(throws: CircuitOpenError.self) { try await breaker.admit() }
        self.fixture.clock.advance(by: .seconds(30))
        let permit = try await breaker.admit()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            self.request(.success("data")) { answer in
                if case .success = answer { permit.succeed() }
                continuation.resume()
            }
        }
        #expect(breaker.state == .closed)
    }
}
