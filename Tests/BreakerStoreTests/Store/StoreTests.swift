import BreakerStore
import Testing

struct Boom: Error {}

@Suite struct StoreTests {
    @Test func tripsRefusesAndRecovers() async throws {
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
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
    @Test func holdsResetsForgetsAndReportsTheHistory() throws {
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
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
