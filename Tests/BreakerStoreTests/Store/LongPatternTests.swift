import BreakerStore
import Testing

/// SQLite takes no pattern that long: an error of the caller's, not of the file's.
@Suite struct LongPatternTests {
    @Test func patternThatIsTooLongDegradesNothing() async throws {
        let store = try CircuitStore.temporary(configuration: Stores.configuration())
        defer { store.close() }
        _ = try store.breaker(.init(name: "a"))
        #expect(throws: BreakerStoreError.self) { try store.circuits(matching: String(repeating: "*", count: 60_000)) }
        #expect(store.isHealthy)
        #expect(try await store.circuits(matching: String(repeating: "*", count: 50_000)).map(\.name) == ["a"])
        #expect(try await store.history().allSatisfy { $0.kind != .degraded })
    }
}
