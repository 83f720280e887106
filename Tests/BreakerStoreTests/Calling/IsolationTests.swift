import BreakerStore
import Testing

/// Operations and values need not be Sendable, and run where the caller is.
@Suite struct IsolationTests {
    /// Not Sendable.
    private final class Counter {
        var count = 0
    }

    private actor Caller {
        private let counter = Counter()

        func callAllForms(of breaker: CircuitBreaker) async throws -> Int {
            let first: Counter = try await breaker.run {
                self.assertIsolated()
                await Task.yield()
                self.assertIsolated()
                self.counter.count += 1
                return self.counter
            }
            let second: Counter = try await breaker.run {
                await Task.yield()
                self.assertIsolated()
                first.count += 1
                return first
            } failingWhen: {
                self.assertIsolated()
                return $0.count < 0
            }
            let third: Counter = try await breaker.run {
                self.assertIsolated()
                throw CallFailure()
            } fallback: { _ in
                await Task.yield()
                self.assertIsolated()
                second.count += 1
                return second
            }
            self.assertIsolated()
            return third.count
        }
    }

    static var policies: [CallPolicy] {
        var timed = CallPolicy()
        timed.timeout = .seconds(30)
        var retrying = timed
        retrying.retry = .constant(maxRetries: 1, delay: .zero)
        retrying.onOutcome = { _ in }
        return [CallPolicy(), timed, retrying]
    }

    @Test(arguments: policies) func operationsRunOnTheCallersActor(_ calls: CallPolicy) async throws {
        let fixture = try StoreFixture()
        #expect(try await Caller().callAllForms(of: fixture.breaker(calls: calls)) == 3)
    }

    @Test(arguments: policies) @MainActor func operationsRunOnTheMainActor(_ calls: CallPolicy) async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(calls: calls)
        let counter = Counter()
        func work() throws -> Counter {
            MainActor.assertIsolated()
            counter.count += 1
            return counter
        }
        for _ in 0..<10 { #expect(try await breaker.run { try work() } === counter) }
        let judged = try await breaker.run {
            try work()
        } failingWhen: {
            MainActor.assertIsolated()
            return $0.count > 100
        }
        #expect(judged === counter)
        let other = try await breaker.run {
            await Task.yield()
            return try work()
        } fallback: { _ in
            try work()
        }
        #expect(other.count == 12)
        MainActor.assertIsolated()
    }

    /// Warnings are errors here: if the synchronous form were taken, `await` would be one.
    @Test(.timeLimit(.minutes(10))) func synchronousWorkTakesTheAsyncFormInAsyncCode() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        func work() throws -> Int { 1 }
        #expect(try await breaker.run { try work() } == 1)
        #expect(try await breaker.run({ try work() }, failingWhen: { $0 == 0 }) == 1)
        await (try await breaker.admit()).succeed()
        await (try await breaker.admit()).fail()
        await breaker.recordSuccess()
        await breaker.recordFailure()
        #expect(breaker.failureCount == 2)
    }

    /// With a timeout the async form runs its operation in a child task; the synchronous form knows no timeout.
    @Test func theTimeoutTellsTheFormsApart() async throws {
        let fixture = try StoreFixture()
        var calls = CallPolicy()
        calls.timeout = .seconds(30)
        let breaker = try fixture.breaker(calls: calls)
        func work() throws -> Int? { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } }
        let caller = try work()
        #expect(try await breaker.run { try work() } != caller)
        #expect(try { try breaker.run { try work() } }() == caller)
    }

    /// Synchronous code, where nothing can be awaited.
    @Test func synchronousCodeTakesTheSynchronousForms() throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        let counter = Counter()
        #expect(try breaker.run { counter } === counter)
        #expect(try breaker.run({ counter }, failingWhen: { $0.count > 0 }) === counter)
        try breaker.admit().succeed()
        try breaker.admit().fail(CallFailure())
        breaker.recordSuccess()
        breaker.recordFailure(CallFailure())
        #expect(breaker.failureCount == 2)
    }
}
