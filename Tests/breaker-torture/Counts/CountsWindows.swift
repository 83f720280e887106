import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Eight processes of very different loads on one circuit, which is closed again after each trip: it trips no earlier
/// and no later than their own logs allow.
final class CountsWindows {
    private static let (eras, shortEras) = (60, 2)
    private static let roundsPerEra = 5

    private let stage: Stage
    private var random: SeededRandom
    private var report: Report { self.stage.report }
    private var directory = ""

    init(_ stage: Stage) {
        self.stage = stage
        self.random = SeededRandom(seed: stage.options.seed &+ 1)
    }

    func run() async throws {
        #if BREAKERSTORE_HOOKS
        let eras = self.stage.options.isShort ? Self.shortEras : self.stage.options.duration == nil ? Self.eras : .max
        var era = 0
        while era < eras, self.report.goesOn {
            try await self.era(era)
            era += 1
        }
        #else
        Report.say("counts: no hooks in this build, which knows of no publish")
        #endif
    }

    /// A new file, a new rule and new processes.
    private func era(_ number: Int) async throws {
        self.directory = "\(self.stage.directory)/windows-\(number)"
        guard unsafe mkdir(self.directory, 0o700) == 0 else { throw SystemError("make a directory") }
        defer { Directory.remove(self.directory) }
        let windows: [Int64] =
            self.stage.options.isShort ? [200_000, 400_000] : [200_000, 1_000_000, 2_000_000, 5_000_000]
        let rule = CountsRule(
            share: [0.05, 0.1, 0.3, 0.5, 0.9].randomElement(using: &self.random) ?? 0.5,
            minimum: [10, 50, 200].randomElement(using: &self.random) ?? 10,
            window: windows.randomElement(using: &self.random) ?? windows[0])
        let store = try CountsCaller.openStore(self.directory)
        let breaker = try rule.register(in: store)
        let logs = try (0..<CountsLog.processes).map { try CountsTimes(self.directory, $0) }
        // Every second era is a hard one: with stops under a second, new circuits and a slow disk.
        let isHard = !number.isMultiple(of: 2)
        let processes = try (0..<CountsLog.processes).map { process in
            try StaleAnswersProcess(
                ["counts-traffic", self.directory, "\(process)", "\(self.random.next())", isHard ? "hard" : "plain"]
                    + rule.words, through: [], self.report)
        }
        for round in 1...Int64(self.stage.options.isShort ? 3 : Self.roundsPerEra) where self.report.goesOn {
            guard try await self.rest(logs, after: round - 1), !logs.contains(where: \.isNearlyFull) else { break }
            try await self.round(round, rule, breaker, store, logs, stopping: isHard ? processes : [])
        }
        logs[0].isOver = true
        for process in processes { await process.finish() }
        store.close()
        for violation in StoreJudge(StoreFile(self.directory + "/circuits.db")).violations {
            self.report.violated(violation)
        }
    }

    /// Waits until nobody calls; false if that takes too long.
    private func rest(_ logs: [CountsTimes], after round: Int64) async throws -> Bool {
        logs[0].phase = -round - 1
        let deadline = ContinuousClock.now + .hangLimit
        while !logs.allSatisfy({ $0.isResting(in: -round - 1) }) {
            guard ContinuousClock.now < deadline else {
                self.report.violated("the processes of \(self.directory) don't come to rest")
                return false
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        return true
    }

    private func round(
        _ number: Int64, _ rule: CountsRule, _ breaker: CircuitBreaker, _ store: CircuitStore, _ logs: [CountsTimes],
        stopping: [StaleAnswersProcess]
    ) async throws {
        try await breaker.reset()
        let start = KillLoop.uptime
        let refusals = logs[0].refusals
        guard let incarnation = CountsBoard.incarnations(in: self.directory + "/circuits.db")[CountsRule.circuit] else {
            return self.report.violated("the circuit has no incarnation")
        }
        logs[0].course = CountsTimes.Course.allCases.randomElement(using: &self.random) ?? .wild
        logs[0].start = start
        logs[0].phase = number
        let end = start + rule.window * Int64(Int.random(in: 4...6, using: &self.random))
        while KillLoop.uptime < end, logs[0].refusals == refusals {
            try await Task.sleep(for: .microseconds(rule.tick))
            guard Int.random(in: 0..<10, using: &self.random) == 0,
                let process = stopping.randomElement(using: &self.random)
            else { continue }
            process.stop()
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...900, using: &self.random)))
            process.goOn()
            self.report.add(1, "stops")
        }
        guard try await self.rest(logs, after: number) else { return }
        if logs.contains(where: \.isOverfull) { return self.report.add(1, "rounds with too many calls to judge") }
        let records = logs.map { $0.records(from: 0) }
        let failures = Int64(records.joined().count { $0.kind == .failed })
        let counted = CountsBoard(of: self.directory + "/circuits.db")?.cell(incarnation).failed
        if counted != failures {
            self.report.violated("round \(number): \(counted ?? -1) failures on the board, \(failures) in the logs")
        }
        let judge = CountsJudge(rule, since: start, records)
        var isTripped = self.isTripped(breaker)
        var verdict = judge.judge(isTripped: isTripped)
        // What was asked with the last call is decided without another, and a commit may wait for others.
        let deadline = ContinuousClock.now + .hangLimit
        while !isTripped, !verdict.violations.isEmpty, .now < deadline {
            try await Task.sleep(for: .milliseconds(10))
            isTripped = self.isTripped(breaker)
            if isTripped { verdict = judge.judge(isTripped: true) }
        }
        for violation in verdict.violations.prefix(3) { self.report.violated("round \(number): \(violation)") }
        self.report.add(1, "windows judged")
        if isTripped { self.report.add(1, "trips") }
        self.report.add(verdict.musts, "trips that had to be")
        self.report.add(verdict.mustNots, "failures that must not")
    }

    private func isTripped(_ breaker: CircuitBreaker) -> Bool {
        if case .open = breaker.state { true } else { false }
    }
}
