import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Some histories by the same processes with the same file.
final class HistoryEra {
    private static let phases = 20

    let stage: Stage
    let plan: HistoryPlan
    /// Nil where the store goes by the system's clock.
    let clock: SharedClock?
    let lanes: [Int]
    let logs: [Int: CallLog]
    var random: SeededRandom
    var processes: [Int: HistoryProcess] = [:]
    var operators: HistoryOperators?
    private let goal: Int
    private let number: Int
    var report: Report { self.stage.report }

    init(_ stage: Stage, _ number: Int, goal: Int, seed: UInt64) throws {
        let directory = "\(stage.directory)/era-\(number)"
        guard unsafe mkdir(directory, 0o700) == 0, unsafe mkdir(directory + "/home", 0o700) == 0 else {
            throw SystemError("make a directory")
        }
        self.stage = stage
        self.number = number
        self.goal = goal
        self.random = SeededRandom(seed: seed)
        self.plan = try HistoryPlan(directory)
        self.plan.isSystemClock = number % 3 == 2
        self.plan.eventsKept = number % 2 == 0 ? 10 : 1_000
        self.clock = self.plan.isSystemClock ? nil : try SharedClock(path: self.plan.clock)
        let count = Int.random(in: 3...HistoryPlan.processes, using: &self.random)
        self.lanes = (0..<count).flatMap { (process: Int) -> [Int] in
            HistoryPlan.hasTask(process) ? [2 * process, 2 * process + 1] : [2 * process]
        }
        self.logs = try Dictionary(uniqueKeysWithValues: self.lanes.map { ($0, try CallLog(directory, $0)) })
        try self.plan.openStore(.readWrite).close()
    }

    func run() async throws {
        self.operators = try await HistoryOperators(self.plan)
        for process in Set(self.lanes.map { $0 / 2 }).sorted() { try self.start(process) }
        for phase in 1...Int64(Self.phases) where self.report.goesOn {
            if self.stage.options.duration == nil, self.report.count(of: "histories") >= self.goal { break }
            if self.logs.values.contains(where: \.isNearlyFull) { break }
            self.choosePlan()
            var chaos = HistoryChaos(self, phase, seed: self.random.next())
            try await chaos.run()
            HistoryJudge(self, phase).judge(chaos)
        }
    }

    func end() async {
        self.operators?.clear()
        for process in self.processes.values { await process.end() }
        let judge = StoreJudge(StoreFile(self.plan.store), eventsKept: self.plan.eventsKept)
        for violation in judge.violations { self.report.violated(violation) }
        Directory.remove(self.plan.directory)
    }

    func start(_ process: Int) throws {
        var arguments = ["history-caller", self.plan.directory, "\(process)", "\(self.random.next())"]
        if let fault = self.stage.options.planted { arguments.append(fault.rawValue) }
        self.processes[process] = try HistoryProcess(arguments, self.report)
    }

    private func choosePlan() {
        var rules = HistoryRules()
        rules.number = Int.random(in: 1...3, using: &self.random)
        // By the system's clock the order of ends within the same call can't be told.
        rules.isConsecutive = self.clock != nil && Int.random(in: 0..<3, using: &self.random) == 0
        rules.multiplier = Int64.random(in: 1...2, using: &self.random)
        rules.probes = Int.random(in: 0..<4, using: &self.random) == 0 ? 2 : 1
        rules.successes = Int.random(in: 0..<4, using: &self.random) == 0 ? 2 : 1
        rules.lease = self.clock == nil ? 36_000_000_000 : 30_000_000
        self.plan.rules = rules
        self.plan.circuits = Int.random(in: 1...2, using: &self.random)
        self.plan.acts = min(12, 40 * self.plan.circuits / self.lanes.count)
    }
}

/// A process that calls, and must not end but when it is told to.
final class HistoryProcess: Sendable {
    private let process: WorkerProcess
    private let isTold = Locked(false)

    init(_ arguments: [String], _ report: Report) throws {
        let process = try WorkerProcess(program: "breaker-torture", arguments: ["role"] + arguments)
        self.process = process
        let isTold = self.isTold
        Task.detached {
            let code = await process.end()
            if !isTold.withLock({ $0 }) { report.violated("process \(arguments[2]) ended by itself with \(code)") }
        }
    }

    func stop() { self.process.stop() }
    func goOn() { self.process.goOn() }

    func die() async {
        self.isTold.withLock { $0 = true }
        await self.process.die()
    }

    func end() async {
        self.isTold.withLock { $0 = true }
        self.process.goOn()
        await self.process.quit()
    }
}
