import BreakerStore

/// A call through a closed circuit.
struct HealthyCall {
    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let breaker = try Self.breaker(directory + "/healthy.db")
            let ordinary = ActorBreaker(threshold: 5, recovery: .seconds(30))
            let operation = Operations.answer(CommandLine.arguments.count)
            let calls = effort.fastCalls
            let rounds = try await Rounds.run(
                effort.rounds, effort,
                [
                    { try await Self.bare(calls, operation) },
                    { try await Self.guarded(calls, breaker, operation) },
                    { try await Self.ordinary(calls / 4, ordinary, operation) },
                ]
            )
            let (bare, ours, ordinaryTime) = (rounds[0], rounds[1], rounds[2])
            table.addDifference("healthy call, over a bare await", ours: ours, floor: bare, atMost: 20, .nanoseconds)
            table.addRatio(
                "healthy call, against an actor in memory (both less the bare await)",
                ours: ours - bare,
                floor: ordinaryTime - bare,
                .atMost(0.25),
                .nanoseconds,
                isVoid: ordinaryTime > 250
            )
            let before = Counts.allocations
            _ = try await Self.guarded(10_000, breaker, operation)
            table.addCount(
                "  allocations in 10,000 healthy calls",
                Counts.growth(from: before, to: Counts.allocations),
                .exactly(0)
            )
            let path = directory + "/child.db"
            table.addCount(
                "  system calls in 10,000 healthy calls", try Child.systemCalls(.healthyCalls, path), .exactly(0))
            table.addCount("  clock reads in 10,000 healthy calls", try await Self.clockReads(directory), .exactly(0))
        }
    }

    /// In a child whose thread may make no system call.
    static func runWithoutSystemCalls(_ path: String) async throws {
        let breaker = try Self.breaker(path)
        let operation = Operations.answer(CommandLine.arguments.count)
        try await Child.withoutSystemCalls { _ = try await Self.guarded(10_000, breaker, operation) }
    }

    private static func breaker(
        _ path: String,
        _ configuration: CircuitStore.Configuration = CircuitStore.Configuration()
    ) throws -> CircuitBreaker {
        try CircuitStore(path: path, configuration: configuration).breaker(CircuitBreaker.Config(name: "healthy"))
    }

    private static func clockReads(_ directory: String) async throws -> Int {
        let clock = CountingClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        let breaker = try Self.breaker(directory + "/clock.db", configuration)
        let operation = Operations.answer(CommandLine.arguments.count)
        _ = try await Self.guarded(1, breaker, operation)
        let before = clock.reads
        _ = try await Self.guarded(10_000, breaker, operation)
        return clock.reads - before
    }

    // MARK: - Loops

    @inline(never)
    static func bare(_ count: Int, _ operation: () async throws -> Int) async throws -> Double {
        var sum = 0
        let watch = Stopwatch()
        for _ in 0..<count { sum &+= try await operation() }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }

    /// So many guarded calls; the nanoseconds of each.
    @inline(never)
    static func guarded(
        _ count: Int,
        _ breaker: CircuitBreaker,
        _ operation: () async throws -> Int
    ) async throws -> Double {
        var sum = 0
        let watch = Stopwatch()
        for _ in 0..<count { sum &+= try await breaker.run(operation) }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }

    @inline(never)
    private static func ordinary(
        _ count: Int,
        _ breaker: ActorBreaker,
        _ operation: @Sendable () async throws -> Int
    ) async throws -> Double {
        var sum = 0
        let watch = Stopwatch()
        for _ in 0..<count { sum &+= try await breaker.run(operation) }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }
}
