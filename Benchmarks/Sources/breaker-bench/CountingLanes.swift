import CBenchmarks

/// What counting adds to the end of a healthy call.
struct CountingLanes {
    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { try Self.add(lanes: 1, threads: 1, effort) }, { try Self.add(lanes: 8, threads: 1, effort) },
                { try Self.add(lanes: 8, threads: 2, effort) }, { try Self.add(lanes: 1, threads: 2, effort) },
            ])
        table.addAmount("counting in a lane", ours: rounds[0], atMost: 10, .nanoseconds)
        table.addAmount("counting in the lane of this CPU", ours: rounds[1], atMost: 10, .nanoseconds)
        table.addRatio(
            "  two threads, over one", ours: rounds[2], floor: rounds[1], .atMost(1.2), .nanoseconds)
        table.addRatio(
            "  two threads in one lane, over lanes", ours: rounds[3], floor: rounds[2], .atLeast(1), .nanoseconds)
    }

    private static func add(lanes: Int32, threads: Int32, _ effort: Effort) throws -> Double {
        let time = bb_count_in_lanes(lanes, threads, effort.fastCalls)
        guard time > 0 else { throw BenchmarkError("counts in lanes were lost") }
        return time
    }
}
