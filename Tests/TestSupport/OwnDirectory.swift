package import Testing

/// Gives each test, and each case of its table, a workplace of its own.
package struct OwnDirectory: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let workplace = try Workplace()
        // The test's processes end with it, however it ends.
        defer { workplace.clear() }
        try await Workplace.$current.withValue(workplace) { try await function() }
    }
}

extension Trait where Self == OwnDirectory {
    /// A directory, a clock and workers of the test's own; `Workplace.here` has them.
    package static var ownDirectory: Self { Self() }
}
