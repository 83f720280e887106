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

    /// With the system's clock the calls of a store share a timer; with another clock each call has its own.
    @Test(.timeLimit(.minutes(10)), arguments: policies, [true, false])
    func operationsRunOnTheCallersActor(_ calls: CallPolicy, hasSystemClock: Bool) async throws {
        var configuration = Stores.configuration()
        if !hasSystemClock { configuration.clock = ManualHostClock() }
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a"), calls: calls)
        #expect(try await Caller().callAllForms(of: breaker) == 3)
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
}
