import BreakerStore
import CBenchmarks

/// A call through a closed circuit whose policy has a timeout.
struct TimedCall {
    /// How much the heap may grow from the 100,000th call to the 1,000,000th, in KiB.
    private static let growth = 256

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let breaker = try Self.breaker(directory + "/timed.db")
            let operation = Operations.answer(CommandLine.arguments.count)
            let calls = effort.fastCalls / 20
            let rounds = try await Rounds.run(
                effort.rounds, effort,
                [
                    { try await Self.inChildTask(calls, operation) },
                    { try await HealthyCall.guarded(calls, breaker, operation) },
                ]
            )
            table.addRatio(
                "healthy call with a timeout, against a bare child task", ours: rounds[1] / 1_000,
                floor: rounds[0] / 1_000, .atMost(2), .microseconds)
            _ = try await HealthyCall.guarded(100_000, breaker, operation)
            let before = bb_heap()
            _ = try await HealthyCall.guarded(900_000, breaker, operation)
            table.addCount(
                "  KiB that 1,000,000 such calls leave behind, of the last 900,000",
                before < 0 ? nil : max(0, Int(bb_heap() - before) / 1_024), .atMost(Self.growth))
        }
    }

    /// The timeout is as long as the memory is watched at least: what a call leaves behind until then is seen.
    private static func breaker(_ path: String) throws -> CircuitBreaker {
        var calls = CallPolicy()
        calls.timeout = .seconds(60)
        let config = CircuitBreaker.Config(name: "timed", probes: ProbeRule(lease: .seconds(60)))
        return try CircuitStore(path: path).breaker(config, calls: calls)
    }

    // MARK: - Loops

    @inline(never)
    private static func inChildTask(
        _ count: Int, _ operation: @escaping @Sendable () async throws -> Int
    ) async throws -> Double {
        var sum = 0
        let watch = Stopwatch()
        for _ in 0..<count {
            sum &+= try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await operation() }
                return try await group.next() ?? 0
            }
        }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }
}
