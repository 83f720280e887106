/// What the benchmarks guard: calls that do next to nothing, and that the compiler can't see through.
enum Operations {
    @inline(never)
    static func answer(_ value: Int) -> @Sendable () async throws -> Int {
        if value < 0 { return { throw ServiceError() } }
        return { value }
    }

    /// Makes what was computed count, so that the loop that computed it stays.
    @inline(never)
    static func use(_ sum: Int, _ result: Double) -> Double { sum == .min ? 0 : result }
}

/// What a service answers when it fails.
struct ServiceError: Error {}
