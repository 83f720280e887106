import BreakerStore
import Testing

struct Boom: Error {}

@Suite struct StoreTests {
    @Test func tripsRefusesAndRecovers() async throws {
        let clock = ManualHostClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(
            .init(name: "a", recoveryTimeout: .seconds(30), maxFailures: 3, rollingWindow: .seconds(60))
        )
        #expect(try await breaker.run { 1 } == 1)
        for _ in 0..<3 {
            await #expect(throws: Boom.self) { try await breaker.run { throw Boom() } }
        }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run { 1 } }
        #expect(throws: CircuitOpenError.self) { try { try breaker.run { 1 } }() }
        clock.advance(by: .seconds(30))
        #expect(try await breaker.run { 2 } == 2)
        #expect(breaker.state == .closed)
        #expect(breaker.failureCount == 0)
    }
}

@Suite struct OperatingTests {
    @Test func holdsResetsForgetsAndTellsTheHistory() throws {
        let clock = ManualHostClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a", trip: .failures(1, within: .seconds(60))))
        breaker.recordFailure(Boom())
        #expect(throws: CircuitOpenError.self) { _ = try { try breaker.run { 1 } }() }
        try store.reset("a", by: "ann", reason: "fixed")
        #expect(breaker.state == .closed)
        try store.hold("a", .open, for: .seconds(10), by: "bob")
        #expect(breaker.isCallPermitted == false)
        clock.advance(by: .seconds(10))
        #expect(breaker.isCallPermitted)
        try store.hold("a", .closed)
        #expect(try { try breaker.run { 1 } }() == 1)
        try store.release("a")
        let snapshot = try #require(try store.circuit(named: "a"))
        #expect(snapshot.workers == 1)
        #expect(snapshot.state == .closed)
        try store.forget("a")
        #expect(try store.circuits().isEmpty)
        #expect(try { try breaker.run { 1 } }() == 1)
        #expect(try store.circuits().map(\.name) == ["a"])
        #expect(
            try store.history(of: "a").map(\.kind)
                == [.forgotten, .released, .held, .released, .held, .reset, .tripped]
        )
        #expect(try store.workers().count == 1)
    }
}

@Suite struct EventTests {
    @Test(.timeLimit(.minutes(10))) func streamsAndHandlersSeeEachEventOnceInOrder() async throws {
        let store = try StoreFixture.makeStore()
        let breaker = try store.breaker(.init(name: "a", trip: .failures(1, within: .seconds(60))))
        let events = store.events()
        await breaker.recordFailure(Boom())
        try await store.reset("a", by: "ann")
        try await store.hold("a", .open)
        store.close()
        var kinds: [CircuitEvent.Kind] = []
        for await event in events {
            kinds.append(event.kind)
            #expect(event.isOwn)
        }
        #expect(kinds == [.tripped, .reset, .held])
    }

    /// Who begins to listen in the moment in which the store is closed is not left waiting.
    @Test(.timeLimit(.minutes(10))) func aStreamEndsWithTheStoreHoweverLateItBegan() async throws {
        for _ in 0..<200 {
            let store = try StoreFixture.makeStore()
            async let events = store.events().reduce(into: 0) { count, _ in count += 1 }
            store.close()
            #expect(await events == 0)
        }
    }

    @Test(.timeLimit(.minutes(10))) func runClosesWhenItIsCancelled() async throws {
        let store = try StoreFixture.makeStore()
        let task = Task { try await store.run() }
        task.cancel()
        try await task.value
        guard case .closed = store.health else {
            Issue.record("the store is not closed")
            return
        }
    }
}
