import BreakerStore
import CBenchmarks
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a failure costs beside many others, in a task, beside another process, and among many circuits.
struct Recording {
    /// Short of a checkpoint, which the store's own thread makes every 200 frames.
    private static let perRound = 32
    private static let many = 10_000
    private static let circuits = 100_000

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let path = directory + "/recording.db"
            let store = try CircuitStore(path: path)
            defer { store.close() }
            let few = try Self.breaker(store, "few", filledWith: 10)
            let crowded = try Self.breaker(store, "crowded", filledWith: Self.many)
            let floor = try Floor(directory + "/floor.db", model: path, failures: Self.many)
            let other = try Other(path)
            try await Self.beside(&table, effort, few, crowded, floor, other)
            try await Self.inTurn(&table, effort, few, crowded, other)
            try await Self.inTasks(&table, effort, few, floor, other)
            try await Self.afterACommit(&table, effort, few, floor, other)
        }
        try await Self.afterVeryMany(&table)
        try await Self.amongMany(&table, effort)
        try await Self.temporary(&table, effort)
    }

    private static func breaker(
        _ store: CircuitStore, _ name: String, filledWith count: Int
    ) throws -> CircuitBreaker {
        let breaker = try store.breaker(.init(name: name, trip: .failures(1_000_000, within: .seconds(3_600))))
        for _ in 0..<count { Self.fail(breaker) }
        return breaker
    }

    private static func fail(_ breaker: CircuitBreaker) {
        _ = try? breaker.run { () throws -> Void in throw ServiceError() }
    }

    private static func failInTask(_ breaker: CircuitBreaker) async {
        _ = try? await breaker.run { () async throws -> Void in throw ServiceError() }
    }

    private static func time(_ count: Int, _ body: () async throws -> Void) async throws -> Double {
        let watch = Stopwatch()
        for _ in 0..<count { try await body() }
        return watch.nanoseconds / Double(count)
    }

    /// The nanoseconds of a failure when nobody else commits.
    private static func alone(_ breaker: CircuitBreaker, _ other: Other) async throws -> Double {
        try other.beginLog()
        Self.fail(breaker)
        return try await Self.time(Self.perRound) { () throws in Self.fail(breaker) }
    }

    // MARK: - Rows

    private static func beside(
        _ table: inout Table, _ effort: Effort, _ few: CircuitBreaker, _ crowded: CircuitBreaker, _ floor: Floor,
        _ other: Other
    ) async throws {
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { try await Self.alone(few, other) },
                { try await Self.alone(crowded, other) },
                {
                    floor.checkpoint()
                    return try floor.fail(Self.perRound)
                },
            ]
        )
        table.addRatio(
            "one failure beside 10,000 in the window, against beside 10", ours: rounds[1] / 1_000,
            floor: rounds[0] / 1_000, .atMost(1.3), .microseconds)
        table.addRatio(
            "  against C beside 10,000", ours: rounds[1] / 1_000, floor: rounds[2] / 1_000, .atMost(1.6),
            .microseconds)
    }

    private static func inTurn(
        _ table: inout Table, _ effort: Effort, _ few: CircuitBreaker, _ crowded: CircuitBreaker, _ other: Other
    ) async throws {
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { try await other.afterEachCommit(Self.perRound) { Self.fail(crowded) } },
                { try await other.afterEachCommit(Self.perRound) { Self.fail(few) } },
            ]
        )
        table.addRatio(
            "the same, after another process's commit, against beside 10", ours: rounds[0] / 1_000,
            floor: rounds[1] / 1_000, .atMost(1.5), .microseconds)
    }

    private static func inTasks(
        _ table: inout Table, _ effort: Effort, _ breaker: CircuitBreaker, _ floor: Floor, _ other: Other
    ) async throws {
        var times: [Double] = []
        var busy: [Double] = []
        let queue = DispatchQueue(label: "hop")
        let tasks = Failures.tasks
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { try await Self.alone(breaker, other) },
                {
                    try other.beginLog()
                    Self.fail(breaker)
                    var sum = 0.0
                    for _ in 0..<Self.perRound {
                        let time = try await Self.time(1) { await Self.failInTask(breaker) }
                        times.append(time)
                        sum += time
                    }
                    return sum / Double(Self.perRound)
                },
                { try await Self.storm(tasks) { await Self.failInTask(breaker) } },
                { try await Self.storm(tasks) { await Task.yield() } },
                { try floor.failBatch(tasks) / Double(tasks) },
                { try await Self.time(Self.perRound) { await Self.hop(over: queue) } },
                {
                    busy += try await Self.besideBusyPool {
                        try await Self.time(1) { await Self.failInTask(breaker) }
                    }
                    return 0
                },
            ]
        )
        table.addRatio(
            "one failure, async form, alone, against the sync form and a hop", ours: rounds[1] / 1_000,
            floor: (rounds[0] + rounds[5]) / 1_000, .atMost(1.5), .microseconds)
        table.addAmount("  its 99.9th percentile", ours: Self.share(0.999, of: times), atMost: 5_000, .microseconds)
        table.addAmount(
            "  its 99th percentile while tasks keep the pool busy", ours: Self.share(0.99, of: busy), atMost: 50_000,
            .microseconds)
        table.addRatio(
            "64 tasks failing, a failure, against a task's switch and C's batch", ours: rounds[2] / 1_000,
            floor: (rounds[3] + rounds[4]) / 1_000, .atMost(2), .microseconds)
    }

    /// To a thread outside the pool, and back.
    private static func hop(over queue: DispatchQueue) async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    /// What each of some calls of `body` takes, while two tasks never sleep.
    private static func besideBusyPool(_ body: () async throws -> Double) async throws -> [Double] {
        let busy = (0..<2).map { _ in Task { while !Task.isCancelled { await Task.yield() } } }
        defer { for task in busy { task.cancel() } }
        var times: [Double] = []
        for _ in 0..<Self.perRound { times.append(try await body()) }
        return times
    }

    /// In microseconds.
    private static func share(_ share: Double, of times: [Double]) -> Double {
        times.sorted()[Int(Double(times.count - 1) * share)] / 1_000
    }

    private static func storm(_ tasks: Int, _ body: @escaping @Sendable () async -> Void) async throws -> Double {
        let watch = Stopwatch()
        await withTaskGroup(of: Void.self) { group in for _ in 0..<tasks { group.addTask { await body() } } }
        return watch.nanoseconds / Double(tasks)
    }

    private static func afterACommit(
        _ table: inout Table, _ effort: Effort, _ breaker: CircuitBreaker, _ floor: Floor, _ other: Other
    ) async throws {
        let operation = Operations.answer(CommandLine.arguments.count)
        let pause: UInt32 = 300
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                { try await other.afterEachCommit(Self.perRound, pause) { _ = try await breaker.run(operation) } },
                { try await floor.other.afterEachCommit(Self.perRound, pause) { try floor.look() } },
            ]
        )
        table.addRatio(
            "a healthy call after another process's commit, against a SELECT after one", ours: rounds[0] / 1_000,
            floor: rounds[1] / 1_000, .atMost(1.5), .microseconds)
    }

    /// All failures of a full window expire at once: the transaction counts them, and deletes a thousand.
    private static func afterVeryMany(_ table: inout Table) async throws {
        try await Program.withDirectory { directory in
            let path = directory + "/expired.db"
            let store = try CircuitStore(path: path)
            defer { store.close() }
            let breaker = try Self.breaker(store, "expired", filledWith: 0)
            try Floor.fill(path, with: 999_000)
            try Other.beginLog(of: path)
            let first = try await Self.time(1) { () throws in Self.fail(breaker) }
            let next = try await Self.time(10) { () throws in Self.fail(breaker) }
            table.addAmount(
                "one failure after 999,000 that have just expired", ours: first / 1_000, atMost: 100_000, .microseconds)
            table.addAmount("  each of the next ten", ours: next / 1_000, atMost: 5_000, .microseconds)
        }
    }

    private static func amongMany(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let path = directory + "/many.db"
            let store = try CircuitStore(path: path)
            defer { store.close() }
            let configs = (0..<Self.circuits).map {
                CircuitBreaker.Config(name: "tenant-\($0)", trip: .failures(1_000_000, within: .seconds(3_600)))
            }
            let heap = bb_heap()
            let watch = Stopwatch()
            let breakers = try store.breakers(configs)
            table.addAmount(
                "registering 100,000 circuits at once, each",
                ours: watch.nanoseconds / Double(Self.circuits) / 1_000, atMost: 10, .microseconds)
            if heap >= 0 {
                table.addAmount(
                    "  memory of each handle", ours: Double(bb_heap() - heap) / Double(Self.circuits), atMost: 600,
                    .bytes)
            }
            let floor = try Floor(directory + "/floor.db", model: path, circuits: Self.circuits)
            let other = try Other(path)
            try await Self.failingAmongMany(&table, effort, breakers, floor, other)
            try await Self.callingAmongMany(&table, effort, breakers)
        }
    }

    private static func failingAmongMany(
        _ table: inout Table, _ effort: Effort, _ breakers: [CircuitBreaker], _ floor: Floor, _ other: Other
    ) async throws {
        var next = 0
        let rounds = try await Rounds.run(
            effort.rounds, effort,
            [
                {
                    try other.beginLog()
                    Self.fail(breakers[next])
                    return try await Self.time(Self.perRound) { () throws in
                        next = (next + 1) % breakers.count
                        Self.fail(breakers[next])
                    }
                },
                {
                    floor.checkpoint()
                    return try floor.fail(Self.perRound)
                },
            ]
        )
        table.addRatio(
            "  a failure of one after the other, against C on as many circuits", ours: rounds[0] / 1_000,
            floor: rounds[1] / 1_000, .atMost(1.5), .microseconds)
    }

    private static func callingAmongMany(
        _ table: inout Table, _ effort: Effort, _ breakers: [CircuitBreaker]
    ) async throws {
        let operation = Operations.answer(CommandLine.arguments.count)
        let called = breakers.prefix(1_000)
        func call(_ breakers: some Sequence<CircuitBreaker>) async throws -> Double {
            var count = 0
            let watch = Stopwatch()
            for breaker in breakers {
                _ = try await breaker.run(operation)
                count += 1
            }
            return watch.nanoseconds / Double(count)
        }
        let rounds = try await Rounds.run(
            effort.rounds * 10, effort,
            [{ try await call(called) }, { try await call(repeatElement(breakers[0], count: called.count)) }])
        table.addRatio(
            "  a healthy call of 1,000 of them in turn, against one of them alone", ours: rounds[0], floor: rounds[1],
            .atMost(2), .nanoseconds)
    }

    private static func temporary(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let model = directory + "/model.db"
            try CircuitStore(path: model).close()
            var files = 0
            let rounds = try await Rounds.run(
                effort.processes, effort,
                [
                    {
                        let watch = Stopwatch()
                        let store = try CircuitStore.temporary()
                        defer { store.close() }
                        return watch.nanoseconds
                    },
                    {
                        files += 1
                        let time = unsafe bb_floor_create("\(directory)/\(files).db", model)
                        guard time >= 0 else { throw BenchmarkError("the floor's database can't be made") }
                        return Double(time)
                    },
                ]
            )
            table.addRatio(
                "a temporary store, against C that makes such a file without a sync", ours: rounds[0] / 1_000_000,
                floor: rounds[1] / 1_000_000, .atMost(2), .milliseconds)
        }
    }
}
