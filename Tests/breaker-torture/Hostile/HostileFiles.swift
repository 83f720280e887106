import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Puts stores that an enemy has changed before the tool and before a service: nothing in a file runs, hangs, takes
/// memory or is changed by reading, and no service is without a circuit breaker that trips.
struct HostileFiles {
    private let stage: Stage
    private var report: Report { self.stage.report }

    private static let lanes = 2
    /// What takes longer hangs.
    static let patience = Duration.hangLimit
    private static let maxMemory = 48 << 20

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        var random = SeededRandom(seed: self.stage.options.seed)
        // Others must come to their files.
        unsafe chmod(self.stage.directory, 0o755)
        let stock = try HostileStock(in: self.stage.directory)
        let known = try HostileCases(stock, &random)
        var cases = self.stage.options.isShort ? known.short(&random) : known.all
        if let only = self.stage.options.only { cases = known.all.filter { $0.description.contains(only) } }
        cases.shuffle(using: &random)
        try await Moments(stock, self.report).play(self.stage.options)
        let waiting = Locked(Array(cases.enumerated().reversed()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.lanes { group.addTask { try await self.work(on: waiting) } }
            try await group.waitForAll()
        }
    }

    /// The process of a service whose store is in an enemy's hands.
    static func victim(patience: Duration) throws -> WatchedWorker {
        try WatchedWorker(patience: patience, memory: self.maxMemory)
    }

    /// The commands that open a store in a victim.
    static func open(_ path: String) -> String {
        "memory begin ; open \(path) degrade busy=0.25 first-retry=10 ; took"
    }

    private func work(on waiting: Locked<[(offset: Int, element: HostileCase)]>) async throws {
        var victim = try Self.victim(patience: Self.patience)
        let runner = try WorkerProcess()
        while self.report.goesOn, let (number, hostile) = waiting.withLock({ $0.popLast() }) {
            var problems: [String] = []
            // A machine that is busy with other things is no violation: what hangs does so again.
            for time in 0..<2 {
                if victim.hasEnded { victim = try Self.victim(patience: Self.patience) }
                let directory = "\(self.stage.directory)/\(number).\(time)"
                problems = try await hostile.run(number, in: directory, victim, runner, self.report)
                guard problems.contains(where: { $0.contains("hung") }) else { break }
            }
            for problem in problems { self.report.violated("\(hostile): \(problem)") }
            if !problems.isEmpty { self.report.add(1, "bad \(hostile.kind)") }
            self.report.add(1, hostile.kind)
        }
        await victim.leave()
        await runner.quit()
    }
}
