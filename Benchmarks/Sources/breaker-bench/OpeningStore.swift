import BreakerStore
import CBenchmarks

/// Opening an existing store in a fresh process, with the first call.
struct OpeningStore {
    private static let config = CircuitBreaker.Config(name: "opening")

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let path = directory + "/opening.db"
            let store = try CircuitStore(path: path)
            _ = try store.breaker(Self.config)
            store.close()
            try await Self.measure(&table, effort, path, "nobody else there")
            try await Child.during(.staying, path) {
                try await Self.measure(&table, effort, path, "another worker alive")
            }
        }
    }

    private static func measure(
        _ table: inout Table, _ effort: Effort, _ path: String, _ who: String
    ) async throws {
        var syncs: Int? = 0
        let rounds = try await Rounds.run(
            effort.processes, effort,
            [
                {
                    // Each opening leaves some frames in the log. About every 24th would find so many there that its
                    // thread copies them into the database, and syncs: for all 24, not for itself.
                    try Other.beginLog(of: path)
                    let numbers = try Self.numbers(try Child.run(.opening, path), count: 2)
                    syncs = numbers[1] < 0 ? nil : syncs.map { max($0, numbers[1]) }
                    return Double(numbers[0])
                },
                { Double(try Self.numbers(try Child.run(.connecting, path), count: 1)[0]) },
            ]
        )
        table.addDifference(
            "opening and first call, \(who), over one SQLite connection",
            ours: rounds[0] / 1e6,
            floor: rounds[1] / 1e6,
            atMost: 1.5,
            .milliseconds
        )
        table.addCount("  most syncs of such an opening", syncs, .exactly(0))
        let ours = try Child.systemCallsBetweenMarks(.openingTraced, path)?.ofPaths
        let floor = try Child.systemCallsBetweenMarks(.connectingTraced, path)?.ofPaths
        table.addCount(
            "  system calls on paths of such an opening, beyond one SQLite connection's",
            ours.flatMap { ours in floor.map { ours - $0 } }, .atMost(Self.pathCalls))
    }

    /// The path itself takes five calls, five looks at the five names take five each, the open files are looked at in
    /// their places with sixteen, bytes and rights take eight; the rest is of the board and of SQLite, which here looks
    /// at each name before it opens the file.
    private static let pathCalls = 80

    private static func numbers(_ result: Child.Result, count: Int) throws -> [Int] {
        let numbers = result.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard result.code == 0, numbers.count == count else {
            throw BenchmarkError("a child ended with \(result.code): \(result.output)")
        }
        return numbers
    }

    // MARK: - In the child

    /// Prints the nanoseconds that it took and the syncs of the whole process.
    static func open(_ path: String) async throws {
        let operation = Operations.answer(CommandLine.arguments.count)
        let watch = Stopwatch()
        let store = try CircuitStore(path: path)
        let breaker = try store.breaker(Self.config)
        _ = try await breaker.run(operation)
        let time = watch.nanoseconds
        print(Int(time), Counts.processSyncs ?? -1)
        store.close()
    }

    /// Opens the store and makes a call between two marks.
    static func openTraced(_ path: String) throws {
        if bb_be_traced() != 0 { bb_exit_now(Child.unguarded) }
        bb_mark()
        let store = try CircuitStore(path: path)
        try store.breaker(Self.config).run {}
        bb_mark()
        store.close()
    }

    /// The same of the floor.
    static func connectTraced(_ path: String) throws {
        if bb_be_traced() != 0 { bb_exit_now(Child.unguarded) }
        bb_mark()
        try Self.connect(path)
        bb_mark()
    }

    /// Prints the nanoseconds that the floor took.
    static func connect(_ path: String) throws {
        let time = unsafe bb_floor_connect(path)
        guard time >= 0 else { throw BenchmarkError("the floor's connection failed") }
        print(time)
    }

    /// Keeps a store open until standard input ends.
    static func stay(_ path: String) throws {
        let store = try CircuitStore(path: path)
        _ = try store.breaker(Self.config)
        print("ready")
        Program.flush()
        while readLine() != nil {}
        store.close()
    }
}
