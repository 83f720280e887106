import BreakerStore

/// A call that an open circuit refuses: thrown and caught.
struct RefusedCall {
    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let breaker = try await Self.openBreaker(directory + "/refused.db")
            let operation = Operations.answer(CommandLine.arguments.count)
            let rounds = try await Rounds.run(
                effort.rounds, effort, [{ try await Self.refused(effort.fastCalls / 4, breaker, operation) }])
            table.addAmount("refused call, thrown and caught", ours: rounds[0], atMost: 150, .nanoseconds)
            let before = Counts.allocations
            _ = try await Self.refused(10_000, breaker, operation)
            let growth = Counts.growth(from: before, to: Counts.allocations)
            // Rounded up: one too many in 10,000 calls is one too many.
            table.addCount("  allocations for each refused call", growth.map { ($0 + 9_999) / 10_000 }, .atMost(2))
            try await breaker.hold(.open, for: .seconds(600), by: "an operator", reason: "a benchmark of refused calls")
            _ = try await Self.refused(1, breaker, operation)
            let beforeHeld = Counts.allocations
            _ = try await Self.refused(10_000, breaker, operation)
            let growthHeld = Counts.growth(from: beforeHeld, to: Counts.allocations)
            table.addCount("    under a hold", growthHeld.map { ($0 + 9_999) / 10_000 }, .atMost(2))
            let path = directory + "/child.db"
            table.addCount(
                "  system calls in 10,000 refused calls", try Child.systemCalls(.refusedCalls, path), .exactly(0))
        }
    }

    /// In a child whose thread may make no system call.
    static func runWithoutSystemCalls(_ path: String) async throws {
        let breaker = try await Self.openBreaker(path)
        let operation = Operations.answer(CommandLine.arguments.count)
        try await Child.withoutSystemCalls { _ = try await Self.refused(10_000, breaker, operation) }
    }

    private static func openBreaker(_ path: String) async throws -> CircuitBreaker {
        let config = CircuitBreaker.Config(
            name: "refused", group: "benchmarks", recoveryTimeout: .seconds(600), maxFailures: 1,
            rollingWindow: .seconds(60))
        let breaker = try CircuitStore(path: path).breaker(config)
        await breaker.recordFailure(ServiceError())
        return breaker
    }

    @inline(never)
    private static func refused(
        _ count: Int,
        _ breaker: CircuitBreaker,
        _ operation: () async throws -> Int
    ) async throws -> Double {
        var refusals = 0
        let watch = Stopwatch()
        for _ in 0..<count {
            do {
                _ = try await breaker.run(operation)
            } catch is CircuitOpenError {
                refusals += 1
            }
        }
        let time = watch.nanoseconds / Double(count)
        guard refusals == count else { throw BenchmarkError("the open circuit let \(count - refusals) calls through") }
        return time
    }
}
