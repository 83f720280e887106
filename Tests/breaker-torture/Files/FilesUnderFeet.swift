import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Takes the files of a store away from workers that use them, puts others in their place, and gives them back: calls
/// run, the workers meet again in one file, and what that could hold is in it.
struct FilesUnderFeet {
    private static let workers = 3
    private static let roundsOfAScene = 8
    private static let scenes = 60
    /// How long workers may take to meet again; a machine that is busy with other things is no violation.
    private static let patience = Duration.hangLimit
    private static let promised = Duration.seconds(2)
    /// How long things stay as they are, in milliseconds.
    private static let delays: [Int64] = [0, 0, 1, 3, 10, 50, 200, 600, 1_300]

    private let stage: Stage
    private var report: Report { self.stage.report }

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        var random = SeededRandom(seed: self.stage.options.seed)
        // The workers are another user, whom permissions bind.
        guard unsafe chmod(self.stage.directory, 0o711) == 0 else { throw SystemError("open \(self.stage.directory)") }
        if self.stage.options.isShort {
            // Each once, and the shorter pauses.
            try await self.play(FootFault.allCases.shuffled(using: &random), Self.delays[...4], &random)
            return
        }
        while self.report.goesOn, self.report.count(of: "scenes") < Self.scenes {
            let faults = (0..<Self.roundsOfAScene).compactMap { _ in FootFault.allCases.randomElement(using: &random) }
            try await self.play(faults, Self.delays[...], &random)
        }
    }

    /// One fault after the other happens to the store of a few workers.
    private func play(_ faults: [FootFault], _ delays: ArraySlice<Int64>, _ random: inout SeededRandom) async throws {
        let number = self.report.count(of: "scenes")
        let floor = try Floor("\(self.stage.directory)/\(number)")
        defer { floor.clear() }
        var workers = try await self.start(floor)
        defer { for worker in workers { worker.clear() } }
        var commands = LastCommands()
        var windows: [ExcusedTime] = []
        var everHalted: Set<pid_t> = []
        for (round, fault) in faults.enumerated() where self.report.goesOn {
            let halted =
                self.stage.options.isShort || Int.random(in: 0..<3, using: &random) > 0
                ? nil : workers.randomElement(using: &random)
            let haltedLonger = Bool.random(using: &random)
            let delay = delays.randomElement(using: &random) ?? 0
            let what =
                "scene \(number), round \(round), \(fault.rawValue) for \(delay) ms"
                + (halted.map { ", \($0.pid) halted for \(haltedLonger ? "longer" : "as long")" } ?? "")
            // Faults in a row make the stores wait longer and longer before they try again.
            let isCalm = !self.stage.options.isShort && Int.random(in: 0..<6, using: &random) == 0
            if isCalm { try await Task.sleep(for: .milliseconds(3_100)) }
            let speaker = workers.randomElement(using: &random) ?? workers[0]
            try await commands.give(to: speaker, mustWork: true, &random)
            // Whoever is to know of it has seen it.
            if Bool.random(using: &random) { try await workers.ask("call held ; call open") }
            let killed = workers.indices.filter { workers[$0] !== halted }.randomElement(using: &random).flatMap {
                self.stage.options.isShort || Int.random(in: 0..<4, using: &random) > 0 ? nil : $0
            }
            if let killed, let step = Self.steps.randomElement(using: &random) {
                // It may come there before it answers.
                _ = try? await workers[killed].ask("die-at \(step) 1")
            }
            let before = floor.tick()
            if let halted {
                everHalted.insert(halted.pid)
                halted.stop()
            }
            try floor.begin(fault, &random)
            let during = floor.tick()
            try await Task.sleep(for: .milliseconds(delay))
            if !haltedLonger { halted?.goOn() }
            let verdict = try floor.end(fault)
            if let killed {
                await workers[killed].die()
                // A new worker could not open what is there.
                if case .void = verdict { return self.report.add(1, "scenes given up") }
                workers[killed] = try await self.start(floor, killed)
                self.report.add(1, "kills")
            }
            if case .lost = verdict, fault == .replacedByStore { commands.forget() }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let others = workers.filter { $0 !== halted }
                let speaker = others.randomElement(using: &random) ?? workers[0]
                try await commands.give(to: speaker, mustWork: false, &random)
                self.report.add(1, "commands before all workers met")
            }
            let after = floor.tick()
            if haltedLonger, halted != nil {
                try await Task.sleep(for: .milliseconds(delay))
                halted?.goOn()
            }
            guard await self.meet(workers, floor, after, what, isCalm) else { return }
            switch verdict {
            case .kept: break
            case .lost: windows = [ExcusedTime(0, during, .all), ExcusedTime(during, floor.tick(), .slow)]
            case .elsewhere: windows.append(ExcusedTime(before, floor.tick(), .all))
            case .void:
                self.report.add(1, "scenes given up")
                return
            }
            try await self.check(workers, floor, windows, what, everHalted)
            if case .lost = verdict, fault == .replacedByStore { try await self.checkLegacy(workers, what) }
            for worker in workers {
                for problem in try await commands.faults(seenBy: worker) { self.report.violated("\(what): \(problem)") }
            }
            if case .lost = verdict, fault != .replacedByStore {
                self.report.add(1, "losses")
                if commands.hasAny { self.report.add(1, "losses that a hold or an open state outlived") }
            }
            for problem in floor.strangersProblems() { self.report.violated("\(what): \(problem)") }
            self.report.add(1, "faults")
            if halted != nil { self.report.add(1, "halts") }
        }
        self.report.add(1, "scenes")
    }

    /// Where workers die.
    private static let steps = [
        "session.closed", "open.begin", "open.guarded", "creation.begin", "creation.file", "strays.moved",
        "quarantine.begin", "quarantine.database", "quarantine.side", "migration.begin", "migration.commit",
        "migration.done", "open.logged", "creation.filled", "creation.freed", "open.registered",
        "circuits.registering", "circuits.registered", "commit.begin", "commit.done", "sync.begin",
    ]

    private func start(_ floor: Floor) async throws -> [WorkerProcess] {
        var workers: [WorkerProcess] = []
        for number in 0..<Self.workers { workers.append(try await self.start(floor, number)) }
        return workers
    }

    private func start(_ floor: Floor, _ number: Int) async throws -> WorkerProcess {
        let worker = try WorkerProcess(arguments: [floor.clock.path])
        try await worker.ask(
            "user \(floor.user) ; open \(floor.path) ticking busy=0.25 first-retry=5 ; \(LastCommands.registration)"
                + " ; busy begin \(number) \(Self.workers)")
        return worker
    }

    /// Waits until each worker sees in its file what each did after that time; false if they do not meet.
    private func meet(
        _ workers: [WorkerProcess],
        _ floor: Floor,
        _ time: Int64,
        _ what: String,
        _ isCalm: Bool
    ) async -> Bool {
        let start = ContinuousClock.now
        while true {
            do {
                let sights = try await workers.ask("busy see")
                if sights.allSatisfy({ Self.seesAll($0, since: time) }) { break }
                guard ContinuousClock.now - start < Self.patience else {
                    self.report.violated(
                        "\(what): the workers did not meet again: \(sights), \(try await workers.ask("busy pause"))")
                    return false
                }
                try await Task.sleep(for: .milliseconds(2))
            } catch {
                self.report.violated("\(what): \(error)")
                return false
            }
        }
        let took = ContinuousClock.now - start
        self.report.raise(Int(took / .milliseconds(1)), "ms until they met at most")
        if isCalm {
            self.report.add(1, "faults after a calm")
            self.report.raise(Int(took / .milliseconds(1)), "ms until they met after such a fault at most")
        }
        if took > Self.promised {
            Report.say("files: \(what): they met after \(took)")
            self.report.add(1, "meetings after more than 2 s")
        }
        return true
    }

    private static func seesAll(_ sight: Reply, since time: Int64) -> Bool {
        let newest = (sight["newest"] ?? "").split(separator: ",").compactMap { Int64($0) }
        return sight["healthy"] == "true" && newest.count == Self.workers && newest.allSatisfy { $0 > time }
    }

    /// While nobody calls, looks whether all that must be in the file is there.
    private func check(
        _ workers: [WorkerProcess],
        _ floor: Floor,
        _ windows: [ExcusedTime],
        _ what: String,
        _ everHalted: Set<pid_t>
    ) async throws {
        var sum = 0
        for (worker, tally) in zip(workers, try await workers.ask("busy pause")) {
            sum += tally.number("calls") ?? 0
            let slowest = Duration.microseconds(tally.number("slowest") ?? 0)
            // A call of a halted process takes at least as long as that is halted.
            let who = everHalted.contains(worker.pid) ? " of a process that was halted" : ""
            self.report.raise(Int(slowest / .milliseconds(1)), "ms in the slowest call\(who)")
            if slowest > Self.patience { self.report.violated("\(what): a call took \(slowest)") }
            if let wrong = tally["wrong"], !wrong.isEmpty { self.report.violated("\(what): \(wrong)") }
        }
        self.report.raise(sum, "calls in a scene at most")
        let texts = windows.map { "\($0)" }.joined(separator: " ")
        let answers = try await workers.ask("busy verify \(texts)")
        for (number, answer) in answers.enumerated() where answer.description != "ok" {
            self.report.violated(
                "\(what): worker \(number) (\(workers[number].pid)) misses: \(answer); windows \(texts); there are \(floor.names)"
            )
        }
        let judge = StoreJudge(StoreFile(floor.path), eventsKept: 0)
        for violation in judge.violations { self.report.violated("\(what): \(violation)") }
        try await workers.ask("busy go")
    }

    /// A store that took the place of another one keeps what it held.
    private func checkLegacy(_ workers: [WorkerProcess], _ what: String) async throws {
        for answer in try await workers.ask("look legacy") where answer.number("failures") != Floor.legacyFailures {
            self.report.violated("\(what): the other store held \(Floor.legacyFailures) failures: \(answer)")
        }
    }
}
