extension CircuitStore {
    /// A store in a directory of its own under the temporary directory, deleted on close; for tests.
    ///
    /// ```swift
    /// @Test func refusesAfterTwoFailures() async throws {
    ///     let store = try CircuitStore.temporary()
    ///     defer { store.close() }
    ///     let users = try store.breaker(.init(name: "users", trip: .consecutiveFailures(2)))
    ///     await users.recordFailure()
    ///     #expect(users.isCallPermitted)
    ///     await users.recordFailure()
    ///     #expect(!users.isCallPermitted)
    /// }
    /// ```
    ///
    /// Throws as `init(path:configuration:)` does, and blocks the calling thread for as long.
    /// - Parameter configuration: how this process uses the file.
    public static func temporary(
        configuration: Configuration = Configuration()
    ) throws(BreakerStoreError) -> CircuitStore {
        CircuitStore(try Backend.temporary(configuration), configuration)
    }
}
