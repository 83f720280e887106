/// What the benchmarks guard: calls that do next to nothing, and that the compiler can't see through.
enum Operations {
    @inline(never)
    static func answer(_ value: Int) -> @Sendable () async throws -> Int {
        if value < 0 { return { throw ServiceError() } }
        return { value }
    }

    @inline(never)
    static func answerAtOnce(_ value: Int) -> @Sendable () throws -> Int {
        if value < 0 { return { throw ServiceError() } }
        return { value }
    }

    @inline(never)
    static func isBad(_ value: Int) -> @Sendable (Int) -> Bool { { $0 != value } }

    @inline(never)
    static func error(_ value: Int) -> @Sendable (Int) -> (any Error)? { { $0 == value ? nil : ServiceError() } }

    @inline(never)
    static func other(_ value: Int) -> @Sendable (any Error) throws -> Int {
        if value < 0 { return { throw $0 } }
        return { _ in value }
    }

    @inline(never)
    static func otherLater(_ value: Int) -> @Sendable (any Error) async throws -> Int {
        if value < 0 { return { throw $0 } }
        return { _ in value }
    }

    /// Makes what was computed count, so that the loop that computed it stays.
    @inline(never)
    static func use(_ sum: Int, _ result: Double) -> Double { sum == .min ? 0 : result }
}

/// What a service answers when it fails.
struct ServiceError: Error {}
