import Testing

@testable import BreakerStore

@Suite struct CallDecisionTests {
    @Test func aHealthyCallIsAnsweredFromTheCache() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a"))
        #expect(store.gate.tag() != nil)
        // The registration has read it.
        #expect(breaker.circuit.cache.read(store.gate).kind == .proceed)
        _ = try await breaker.run { 1 }
        #expect(breaker.circuit.cache.read(store.gate).kind == .proceed)
        let other = try store.breaker(.init(name: "b", trip: .failures(1, within: .seconds(1))))
        #expect(breaker.circuit.cache.read(store.gate).kind == .unknown)
        // So has the report of a call that asked for no leave.
        await other.recordFailure()
        #expect(other.circuit.cache.read(store.gate).kind == .open)
    }
}
