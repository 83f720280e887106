import BreakerStore
import Testing

/// What the cancellation of the caller's task means: nothing for the service, and no fallback.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    private let fixture: StoreFixture
    private let log = OutcomeLog()

    init() throws { self.fixture = try StoreFixture() }

    private func breaker(_ change: (inout CallPolicy) -> Void = { _ in }) throws -> CircuitBreaker {
        var calls = CallPolicy()
        calls.onOutcome = { [log] in log.add($0) }
        change(&calls)
        return try self.fixture.breaker(trip: .failures(1, within: .seconds(60)), calls: calls)
    }

    /// Runs `body` in a task that is cancelled already.
    private func cancelled<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async -> Result<T, any Error>
    {
        await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            do {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }.value
    }

    private func expectCallFailure(
        _ result: Result<Int, any Error>, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: CallFailure.self, sourceLocation: location) { try result.get() }
    }

    @Test func anErrorOfACancelledTaskIsNoFailure() async throws {
        let breaker = try self.breaker()
        self.expectCallFailure(await self.cancelled { try await breaker.run { throw CallFailure() } })
        self.expectCallFailure(await self.cancelled { try synchronously { try breaker.run { throw CallFailure() } } })
        self.expectCallFailure(
            await self.cancelled { try await breaker.run({ throw CallFailure() }, failingWhen: { _ in true }) })
        #expect(breaker.failureCount == 0)
        #expect(self.log.results == [.ignored, .ignored, .ignored])
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(breaker.state != .closed)
    }

    /// Cancelled while it runs, as a server does with its calls when it is told to end.
    @Test(arguments: [nil, Duration.seconds(30)])
    func aCallThatIsCancelledInFlightIsNoFailure(_ timeout: Duration?) async throws {
        let breaker = try self.breaker { $0.timeout = timeout }
        let begun = CircuitCounters()
        let task = Task {
            try await breaker.run {
                begun.add()
                while !Task.isCancelled { await Task.yield() }
                throw CallFailure()
            } fallback: { _ in
                1
            }
        }
        #expect(await eventually { begun.count == 1 })
        task.cancel()
        await #expect(throws: CallFailure.self) { try await task.value }
        #expect(breaker.failureCount == 0)
    }

    @Test func noFallbackRunsInACancelledTask() async throws {
        let breaker = try self.breaker()
        self.expectCallFailure(
            await self.cancelled {
                try await breaker.run({ throw CallFailure() }, fallback: { _ async throws -> Int in 1 })
            })
        self.expectCallFailure(
            await self.cancelled { try await breaker.run({ throw CallFailure() }, fallback: { _ in 1 }) })
        self.expectCallFailure(
            await self.cancelled {
                try synchronously { try breaker.run({ throw CallFailure() }, fallback: { _ in 1 }) }
            })
        let value = await self.cancelled {
            try await breaker.run({ 5 }, failure: { _ in CallFailure() }, fallback: { _ in 1 })
        }
        #expect(try value.get() == 5)
        // Whatever `classify` says.
        let strict = try self.breaker { $0.classify = { _ in .failure } }
        self.expectCallFailure(
            await self.cancelled { try await strict.run({ throw CallFailure() }, fallback: { _ in 1 }) })
        #expect(strict.failureCount == 1)
        let refused = await self.cancelled { try await breaker.run({ 5 }, fallback: { _ in 1 }) }
        #expect(throws: CircuitOpenError.self) { try refused.get() }
    }

    @Test(arguments: [Verdict.ignored, .success])
    func noFallbackRunsForWhatIsNoFailure(_ verdict: Verdict) async throws {
        let breaker = try self.breaker { $0.classify = { _ in verdict } }
        await #expect(throws: CallFailure.self) {
            try await breaker.run({ throw CallFailure() }, fallback: { _ async throws -> Int in 1 })
        }
        #expect(throws: CallFailure.self) {
            try synchronously { try breaker.run({ throw CallFailure() }, fallback: { _ in 1 }) }
        }
        #expect(breaker.failureCount == 0)
    }

    /// The library cancels a child task at the deadline; the caller's own task is not cancelled.
    @Test func theLibrarysOwnTimeoutIsAFailure() async throws {
        let breaker = try self.breaker { $0.timeout = .seconds(1) }
        self.fixture.pass(.seconds(1))
        let value = try await breaker.run {
            try await Task.sleep(for: .seconds(3_600))
            return 0
        } fallback: {
            $0 is CallTimeoutError ? 1 : 2
        }
        #expect(value == 1)
        #expect(self.log.results == [.failed])
        #expect(breaker.state != .closed)
    }

    @Test func whatIsReportedOnPurposeCounts() async throws {
        let breaker = try self.fixture.breaker(trip: .failures(100, within: .seconds(60)))
        let result = await self.cancelled {
            await breaker.recordFailure(CallFailure())
            synchronously { breaker.recordFailure(CallFailure()) }
            await (try await breaker.admit()).fail(CallFailure())
            try synchronously { try breaker.admit().fail(CallFailure()) }
            try await breaker.admit().failLater(CallFailure())
            await breaker.recordFailure(CancellationError())
            return 0
        }
        #expect(try result.get() == 0)
        #expect(await eventually { breaker.failureCount == 5 })
    }

    /// As in the documentation's samples.
    @Test func aClassifyOfYourOwnKeepsTheRule() async throws {
        let breaker = try self.breaker { calls in
            calls.classify = { error in
                switch error {
                case let failure as CallFailure where failure.number == 4: .success
                default: CallPolicy().classify(error)
                }
            }
        }
        self.expectCallFailure(await self.cancelled { try await breaker.run { throw CallFailure(number: 5) } })
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure(number: 4) } }
        #expect(self.log.results == [.ignored, .succeeded])
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure(number: 5) } }
        #expect(breaker.state != .closed)
    }

    @Test func aCancelledCallIsNotTriedAgain() async throws {
        let breaker = try self.breaker { $0.retry = .constant(maxRetries: 5, delay: .zero) }
        self.expectCallFailure(await self.cancelled { try await breaker.run { throw CallFailure() } })
        #expect(self.log.results == [.ignored])
    }
}
