import BreakerStore
import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Failures, one at a time and many at once.
struct Failures {
    /// Circuits that take the failures of a round in turn.
    static let circuits = 16
    /// Failures of one round, after one of each circuit: all of them stay short of a checkpoint.
    static let perRound = 32
    /// Failures of a round with checkpoints, and how many there are between two of them.
    private static let checkpoints = 5
    private static let perCheckpoint = 66
    static let tasks = 64

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let path = directory + "/failures.db"
            let store = try CircuitStore(path: path)
            let floor = try Floor(directory + "/floor.db", model: path, circuits: Self.circuits)
            let breakers = try Self.breakers(store, "alone")
            var round = 0
            let rounds = try await Rounds.run(
                effort.rounds, effort,
                [
                    {
                        try Other.beginLog(of: path)
                        for breaker in breakers { Self.fail(breaker) }
                        return Self.oneByOne(breakers, Self.perRound)
                    },
                    {
                        floor.checkpoint()
                        return try floor.fail(Self.perRound)
                    },
                    { Self.oneByOne(breakers, Self.checkpoints * Self.perCheckpoint) },
                    { try Self.floorWithCheckpoints(floor) },
                    {
                        round += 1
                        return try await Self.atOnce(try Self.crowdBreaker(store, "crowd-\(round)"))
                    },
                ]
            )
            table.addRatio(
                "one failure, sync form, against C", ours: rounds[0] / 1_000, floor: rounds[1] / 1_000, .atMost(1.6),
                .microseconds)
            table.addRatio(
                "  the same with checkpoints, against C that makes them itself", ours: rounds[2] / 1_000,
                floor: rounds[3] / 1_000, .atMost(1.5), .microseconds)
            table.addCount(
                "  system calls of \(Self.circuits) failures",
                try Child.systemCallsBetweenMarks(.failingTraced, directory + "/traced.db")?.all,
                .atMost(Self.circuits * Self.systemCalls + 4))
            table.addCount(
                "  system calls of \(Self.circuits) failures that trip",
                try Child.systemCallsBetweenMarks(.trippingTraced, directory + "/tripping.db")?.all,
                .atMost(Self.circuits * Self.systemCallsOfTrip + 4))
            try Self.countSyncs(&table, directory + "/syncs.db")
            try Self.countStatements(&table, directory + "/statements.db")
            table.addRatio(
                "64 tasks failing at once, against one by one",
                ours: 1e9 / rounds[4],
                floor: 1e9 / rounds[0],
                .atLeast(4),
                .perSecond
            )
            let last = try Self.crowdBreaker(store, "last")
            _ = try await Self.atOnce(last)
            table.addCount("  failures in the file when 64 tasks have been answered", last.failureCount, .exactly(64))
            table.note(
                "one failure: rounds of \(Self.perRound) on \(Self.circuits) circuits, in a log that has just begun; "
                    + "with checkpoints: one every 200 frames, made by the store's own thread")
            table.note(
                "syncs: those of the calling thread; a guarded checkpoint syncs on the store's thread, and the first "
                    + "commit after it syncs the log's header once, which is not counted here")
        }
    }

    private static func breakers(
        _ store: CircuitStore, _ name: String, tripAfter count: Int = 1_000_000
    ) throws -> [CircuitBreaker] {
        let trip = TripRule.failures(count, within: .seconds(3_600))
        return try store.breakers((0..<Self.circuits).map { .init(name: "\(name)-\($0)", trip: trip) })
    }

    private static func crowdBreaker(_ store: CircuitStore, _ name: String) throws -> CircuitBreaker {
        try store.breaker(.init(name: name, trip: .failures(1_000, within: .seconds(600))))
    }

    /// In nanoseconds for each failure.
    private static func oneByOne(_ breakers: [CircuitBreaker], _ count: Int) -> Double {
        let watch = Stopwatch()
        for index in 0..<count { Self.fail(breakers[index % breakers.count]) }
        return watch.nanoseconds / Double(count)
    }

    private static func fail(_ breaker: CircuitBreaker) {
        _ = try? breaker.run { () throws -> Void in throw ServiceError() }
    }

    private static func floorWithCheckpoints(_ floor: Floor) throws -> Double {
        let watch = Stopwatch()
        for _ in 0..<Self.checkpoints {
            _ = try floor.fail(Self.perCheckpoint)
            floor.checkpoint()
        }
        return watch.nanoseconds / Double(Self.checkpoints * Self.perCheckpoint)
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

    // MARK: - System calls

    /// The system calls that one failure may make, once nothing has changed in the directory for a moment.
    ///
    /// It looks at the wal-index and at the directory, makes eight calls for locks and two writes: a page with its
    /// header. A few calls more may be due by the clock.
    private static let systemCalls = 12
    /// Writes five pages more, and looks up the circuit's totals on the board, which are noted with the trip; one sync.
    private static let systemCallsOfTrip = 30

    /// One failure of each circuit between two marks, in a log that is far from a checkpoint.
    static func failTraced(_ path: String) throws { try Self.fail(path, tripAfter: 1_000_000) }

    /// The same, where this failure of each circuit trips it.
    static func tripTraced(_ path: String) throws { try Self.fail(path, tripAfter: 3) }

    private static func fail(_ path: String, tripAfter count: Int) throws {
        let store = try CircuitStore(path: path)
        let breakers = try Self.breakers(store, "traced", tripAfter: count)
        for breaker in breakers { Self.fail(breaker) }
        // A change of the directory less than 50 ms ago might hide another.
        usleep(100_000)
        for breaker in breakers { Self.fail(breaker) }
        if bb_be_traced() != 0 { bb_exit_now(Child.unguarded) }
        bb_mark()
        for breaker in breakers { Self.fail(breaker) }
        bb_mark()
        store.close()
    }

    // MARK: - Statements

    /// The statements of the calling thread, in a store of its own, as with syncs.
    private static func countStatements(_ table: inout Table, _ path: String) throws {
        guard bb_trace_statements() == 0 else { return }
        defer { bb_trace_no_more() }
        let store = try CircuitStore(path: path)
        defer { store.close() }
        let breakers = try Self.breakers(store, "statements", tripAfter: 3)[..<8]
        for breaker in breakers { Self.fail(breaker) }
        let before = Counts.threadStatements
        for breaker in breakers { Self.fail(breaker) }
        let beforeTrips = Counts.threadStatements
        for breaker in breakers { Self.fail(breaker) }
        // A look, BEGIN, the circuit, the count, INSERT, COMMIT; where it trips, also the totals, the event, the number
        // of such events, the end of the oldest, and the state. The clock is written once in ten seconds.
        table.addCount("  statements of 8 failures that trip nothing", beforeTrips - before, .atMost(8 * 6 + 1))
        table.addCount(
            "  statements of 8 failures that trip", Counts.threadStatements - beforeTrips, .atMost(8 * 11 + 1))
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
