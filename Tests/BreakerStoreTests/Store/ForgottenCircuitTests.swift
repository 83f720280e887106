import Testing

@testable import BreakerStore

/// A service may register circuits by names that never come again, such as one a customer.
@Suite(.timeLimit(.minutes(10))) struct ForgottenCircuitTests {
    @Test func nothingIsKeptOfAForgottenCircuitWithoutHandles() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let core = try #require(store.backend.core)
        weak var circuit: SharedCircuit?
        weak var counts: CircuitCounts?
        do {
            let breaker = try store.breaker(.init(name: "a"))
            circuit = breaker.circuit
            counts = breaker.circuit.counts
            try await store.forget("a")
            #expect(circuit != nil && counts != nil)
        }
        _ = try store.breaker(.init(name: "b"))
        try await store.forget("b")
        #expect(core.circuits.all.map(\.name) == ["a"])
        // The handle of the first was there when it was forgotten.
        fixture.clock.advance(by: .seconds(60))
        core.requestMaintenance()
        #expect(await eventually { circuit == nil && counts == nil && core.circuits.isEmpty })
    }

    /// The handle that is left works on.
    @Test func handleOutlivesForgetting() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("a"))
        try store.forget("a")
        #expect(try store.breaker(Stores.config("a")) == breaker)
        for _ in 0..<2 { breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
    }
}
