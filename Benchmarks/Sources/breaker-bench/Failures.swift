import BreakerStore
import CBenchmarks

/// Failures, one at a time and many at once.
struct Failures {
    /// Circuits that take the failures of a round in turn: each stays short of its threshold, as circuits do.
    static let circuits = 16
    /// Failures of one round: with the commits of a round the log stays short of a checkpoint most of the time.
    static let perRound = 64
    static let tasks = 64

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let path = directory + "/failures.db"
            let store = try CircuitStore(path: path)
            guard let floor = unsafe bb_floor_open(directory + "/floor.db", path, Int32(Self.circuits)) else {
                throw BenchmarkError("the floor's database can't be made")
            }
            defer { unsafe bb_floor_close(floor) }
            var round = 0
            let rounds = try await Rounds.run(
                effort.rounds, effort,
                [
                    {
                        round += 1
                        return try Self.oneByOne(try Self.breakers(store, "alone-\(round)"))
                    },
                    { try unsafe Self.floor(floor) },
                    { try await Self.atOnce(try Self.crowdBreaker(store, "crowd-\(round)")) },
                ]
            )
            let (ours, floorTime, crowd) = (rounds[0], rounds[1], rounds[2])
            table.addRatio(
                "one failure, sync form, against C", ours: ours / 1_000, floor: floorTime / 1_000, .atMost(1.5),
                .microseconds)
            try Self.countSyncs(&table, directory + "/syncs.db")
            table.addRatio(
                "64 tasks failing at once, against one by one",
                ours: 1e9 / crowd,
                floor: 1e9 / ours,
                .atLeast(8),
                .perSecond
            )
            let last = try Self.crowdBreaker(store, "last")
            _ = try await Self.atOnce(last)
            table.addCount("  failures in the file when 64 tasks have been answered", last.failureCount, .exactly(64))
            table.note(
                "one failure: medians of rounds of \(Self.perRound) on \(Self.circuits) circuits with a threshold of 5; "
                    + "most rounds are short of the checkpoint at 200 frames, which the store's own thread makes")
            table.note(
                "syncs: those of the calling thread; a guarded checkpoint syncs on the store's thread, and the first "
                    + "commit after it syncs the log's header once, which is not counted here")
        }
    }

    private static func breakers(_ store: CircuitStore, _ name: String) throws -> [CircuitBreaker] {
        try (0..<Self.circuits).map { try store.breaker(CircuitBreaker.Config(name: "\(name)-\($0)")) }
    }

    private static func crowdBreaker(_ store: CircuitStore, _ name: String) throws -> CircuitBreaker {
        try store.breaker(.init(name: name, trip: .failures(1_000, within: .seconds(600))))
    }

    /// In nanoseconds for each failure.
    private static func oneByOne(_ breakers: [CircuitBreaker]) throws -> Double {
        let watch = Stopwatch()
        for index in 0..<Self.perRound { Self.fail(breakers[index % breakers.count]) }
        return watch.nanoseconds / Double(Self.perRound)
    }

    private static func fail(_ breaker: CircuitBreaker) {
        _ = try? breaker.run { () throws -> Void in throw ServiceError() }
    }

    @unsafe
    private static func floor(_ floor: OpaquePointer) throws -> Double {
        unsafe bb_floor_checkpoint(floor)
        let time = unsafe bb_floor_fail(floor, Int32(Self.perRound))
        guard time >= 0 else { throw BenchmarkError("the floor's transaction failed") }
        return Double(time) / Double(Self.perRound)
    }

    /// In nanoseconds for each failure; each task goes on when its own is committed.
    private static func atOnce(_ breaker: CircuitBreaker) async throws -> Double {
        let watch = Stopwatch()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.tasks {
                group.addTask { _ = try? await breaker.run { () async throws -> Void in throw ServiceError() } }
            }
        }
        return watch.nanoseconds / Double(Self.tasks)
    }

    // MARK: - Syncs

    /// In a store of its own, whose short log is due for no checkpoint: while the store's thread makes one, it commits
    /// and syncs for the caller.
    private static func countSyncs(_ table: inout Table, _ path: String) throws {
        let store = try CircuitStore(path: path)
        defer { store.close() }
        let counted = try Self.breakers(store, "syncs")
        // A new log syncs its header with its first commit: let that be over.
        Self.fail(counted[0])
        let before = Counts.threadSyncs
        for breaker in counted[1...8] { Self.fail(breaker) }
        table.addCount(
            "  syncs of 8 failures that trip nothing", Counts.growth(from: before, to: Counts.threadSyncs), .exactly(0))
        let tripping = try store.breaker(
            CircuitBreaker.Config(name: "tripping", trip: .failures(2, within: .seconds(60))))
        Self.fail(tripping)
        let beforeTrip = Counts.threadSyncs
        Self.fail(tripping)
        table.addCount(
            "  syncs of a failure that trips", Counts.growth(from: beforeTrip, to: Counts.threadSyncs), .exactly(1))
    }
}
