import BreakerStore
import BreakerTestSupport

/// Kills processes that share a store, at any instant and at chosen ones: nothing acknowledged is lost, nothing counts
/// twice, and nobody is in the way.
struct KillLoop {
    /// How many deaths there are to be, and where.
    private static let goals: [(what: String, count: Int)] =
        [("kills", 5_000), ("in transaction", 1_000)]
        + ["open", "migration", "checkpoint", "close"].map { ("in \($0)", 200) }
        + ["creation", "quarantine"].map { ("in \($0)", 100) }
    private static let shortGoal = 60

    private let stage: Stage
    private let nextRound = Locked(0)
    private var report: Report { self.stage.report }

    init(_ stage: Stage) { self.stage = stage }

    /// Time as the store's clock counts it, in microseconds.
    static var uptime: Int64 {
        let (seconds, attoseconds) = SystemHostClock().uptime.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    /// The log of one caller of a process.
    static func log(in directory: String, of process: Int, _ lane: Int) throws -> CallLog {
        try CallLog(directory, process * 8 + lane, most: 2_048)
    }

    func run() async throws {
        let lanes = self.stage.options.isShort ? 1 : 2
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<lanes { group.addTask { try await self.runLane() } }
            try await group.waitForAll()
        }
    }

    private var isDone: Bool {
        if self.stage.options.isShort { return self.report.count(of: "kills") >= Self.shortGoal }
        // With a duration it goes on until that is over.
        return self.stage.options.duration == nil
            && Self.goals.allSatisfy { self.report.count(of: $0.what) >= $0.count }
    }

    /// One process after the other round, in which it forks the workers: to start them anew would take most of the
    /// time.
    private func runLane() async throws {
        let killer = try WorkerProcess(
            program: "breaker-torture", arguments: ["role", Role.killer.rawValue] + self.stage.options.libraries)
        while self.report.goesOn, !self.isDone {
            let round = self.nextRound.withLock { next in
                defer { next += 1 }
                return next
            }
            let directory = "\(self.stage.directory)/\(round)"
            let seed = self.stage.options.seed &+ UInt64(round) &* 0x9E37_79B9
            let isShort = self.stage.options.isShort
            self.report.take(try await killer.ask("\(seed) \(directory) \(isShort ? "short" : "long")"), round)
        }
        await killer.quit()
    }
}
