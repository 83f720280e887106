import BreakerStore
import Testing

/// The forms of `run`, and what each throws.
@Suite struct CallFormTests {
    private func sync<T>(_ breaker: CircuitBreaker, _ operation: () throws -> T) throws -> T {
        try breaker.run(operation)
    }

    @Test func returnsTheValue() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        #expect(try await breaker.run { 1 } == 1)
        #expect(try await breaker.run({ 2 }, failingWhen: { $0 == 1 }) == 2)
        #expect(try await breaker.run({ 3 }, fallback: { _ in 4 }) == 3)
        #expect(try self.sync(breaker) { 5 } == 5)
        #expect(try synchronously { try breaker.run({ 6 }, failingWhen: { $0 == 1 }) } == 6)
        #expect(breaker.failureCount == 0)
    }

    @Test func throwsTheOperationsOwnError() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .failures(10, within: .seconds(60)))
        await #expect(throws: CallFailure(number: 1)) { try await breaker.run { throw CallFailure(number: 1) } }
        await #expect(throws: CallFailure(number: 2)) {
            try await breaker.run({ throw CallFailure(number: 2) }, failingWhen: { _ in false })
        }
        await #expect(throws: CallFailure(number: 3)) {
            try await breaker.run({ throw CallFailure(number: 1) }, fallback: { _ in throw CallFailure(number: 3) })
        }
        #expect(throws: CallFailure(number: 4)) { try self.sync(breaker) { throw CallFailure(number: 4) } }
        #expect(throws: CallFailure(number: 5)) {
            try synchronously { try breaker.run({ throw CallFailure(number: 5) }, failingWhen: { _ in false }) }
        }
        #expect(breaker.failureCount == 5)
    }

    @Test func refusesWithoutRunning() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        for number in 1...3 {
            await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure(number: number) } }
        }
        fixture.clock.advance(by: .seconds(10))
        var runs = 0
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run { runs += 1 } }
        #expect(error?.name == "a")
        #expect(error?.group == "G")
        #expect(error?.cause == .open)
        #expect(error?.retryAfter == .seconds(20))
        #expect(error?.lastError == "CallFailure")
        let description = try #require(error).description
        for part in ["a", "20", "CallFailure"] { #expect(description.contains(part)) }
        await #expect(throws: CircuitOpenError.self) {
            try await breaker.run({ runs += 1 }, failingWhen: { _ in true })
        }
        #expect(throws: CircuitOpenError.self) { try self.sync(breaker) { runs += 1 } }
        #expect(throws: CircuitOpenError.self) {
            try synchronously { try breaker.run({ runs += 1 }, failingWhen: { _ in true }) }
        }
        await #expect(throws: CircuitOpenError.self) { try await breaker.admit() }
        #expect(throws: CircuitOpenError.self) { try synchronously { _ = try breaker.admit() } }
        #expect(runs == 0)
    }

    @Test func fallbackTakesRefusalsAndFailuresButNoCancellation() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .consecutiveFailures(1))
        let cancelled = Task {
            try await breaker.run({ throw CancellationError() }, fallback: { _ in 0 })
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(breaker.failureCount == 0)
        #expect(try await breaker.run({ throw CallFailure() }, fallback: { $0 is CallFailure ? 1 : 0 }) == 1)
        #expect(try await breaker.run({ 0 }, fallback: { $0 is CircuitOpenError ? 2 : 0 }) == 2)
    }

    @Test func aProbingCircuitRefusesTheRest() async throws {
        let fixture = try StoreFixture()
        let breaker = try await fixture.dueBreaker()
        let permit = try await breaker.admit()
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.cause == .probing)
        #expect(error?.retryAfter == nil)
        await permit.succeed()
        #expect(breaker.state == .closed)
    }

    /// Ten operations of which none ends before all have begun.
    @Test(.timeLimit(.minutes(10))) func aClosedCircuitLetsCallsRunAtTheSameTime() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        let barrier = Barrier(10)
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 { group.addTask { try await breaker.run { await barrier.arrive() } } }
            try await group.waitForAll()
        }
    }

    /// More calls than Swift's pool has threads wait for the file.
    ///
    /// A synchronous form would keep all of these threads, this test's among them, until the store's patience ends.
    @Test(.timeLimit(.minutes(10))) func synchronousPartsBlockNoThreadOfThePool() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .failures(1_000, within: .seconds(60)))
        func work() throws -> Int { throw CallFailure() }
        let lock = try WriteLock(fixture.store)
        let begun = CircuitCounters()
        let ended = CircuitCounters()
        let calls = (0..<100).map { _ in
            Task.detached {
                let value = try await breaker.run {
                    begun.add()
                    return try work()
                } fallback: { _ in
                    2
                }
                ended.add()
                return value
            }
        }
        #expect(await eventually { begun.count == 100 })
        #expect(ended.count == 0)
        try lock.release()
        for call in calls { #expect(try await call.value == 2) }
        #expect(breaker.failureCount == 100)
        #expect(fixture.isHealthy)
    }
}
