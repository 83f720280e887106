import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Readers hold every cached answer against the newest change that was acknowledged before they asked, while writers
/// commit and die, stores are closed, opened and degraded, files vanish and the header of the wal-index is torn.
final class StaleAnswers: Sendable {
    private struct Goal {
        var checks = 1_000_000_000
        var commits = 1_000_000
        var deaths = 5_000
        /// After how many deaths files are taken away.
        var deathsPerBreak = 100

        static let short = Goal(checks: 5_000_000, commits: 2_000, deaths: 10, deathsPerBreak: 8)
    }

    static let writers = 3
    private static let readers = 2
    /// The tests don't wait longer than that if the machine is slow, once a little of all has been done.
    private static let shortTime = Duration.seconds(4)

    private struct State {
        var random: SeededRandom
        var writers: [StaleAnswersProcess] = []
        var readers: [StaleAnswersProcess] = []
        /// One of which each process loads; empty for the usual one.
        var libraries: [SQLiteLibrary] = []
        var told: [StaleAnswersBoard.Word: Int64] = [:]
    }

    private let stage: Stage
    private let board: StaleAnswersBoard
    private let goal: Goal
    private let start = ContinuousClock.now
    private let state: Locked<State>

    init(_ stage: Stage) throws {
        self.stage = stage
        self.board = try StaleAnswersBoard(stage.directory)
        self.goal = stage.options.isShort ? .short : Goal()
        self.state = Locked(State(random: SeededRandom(seed: stage.options.seed)))
    }

    func run() async throws {
        for folder in self.stage.options.libraries {
            let library = try await SQLiteLibrary(in: folder)
            self.state.withLock { $0.libraries.append(library) }
        }
        let readers = try (0..<Self.readers).map { try self.startReader($0) }
        let writers = try (0..<Self.writers).map { try self.startWriter($0) }
        self.state.withLock { ($0.readers, $0.writers) = (readers, writers) }
        var nextBreak = self.goal.deathsPerBreak
        while self.goesOn {
            try await Task.sleep(for: .milliseconds(self.random(in: self.stage.options.isShort ? 10...60 : 10...110)))
            try await self.killOne()
            if StaleAnswersDamage.tearHeader(of: self.board.store, self.random) {
                self.stage.report.add(1, "torn headers")
            }
            if self.stage.report.count(of: "deaths") >= nextBreak {
                nextBreak += self.goal.deathsPerBreak
                try await self.takeFilesAway()
            }
            self.tell()
        }
        for reader in self.state.withLock({ $0.readers }) { await reader.quit() }
        for writer in self.state.withLock({ $0.writers }) { await self.kill(writer) }
        self.tell()
        // The file keeps the newest events alone.
        for violation in StoreJudge(StoreFile(self.board.store), eventsKept: 0).violations {
            self.stage.report.violated(violation)
        }
    }

    private var goesOn: Bool {
        let report = self.stage.report
        guard report.goesOn else { return false }
        let done = (report.count(of: "checks"), report.count(of: "commits"), report.count(of: "deaths"))
        if self.stage.options.isShort, ContinuousClock.now - self.start > Self.shortTime {
            return done.0 < self.goal.checks / 20 || done.1 < self.goal.commits / 20 || done.2 < self.goal.deaths / 2
        }
        return done.0 < self.goal.checks || done.1 < self.goal.commits || done.2 < self.goal.deaths
    }

    private func random(in range: ClosedRange<Int>) -> Int {
        self.state.withLock { Int.random(in: range, using: &$0.random) }
    }

    private func random() -> UInt64 { self.state.withLock { $0.random.next() } }

    /// Adds to the report what the processes have counted since the last time.
    private func tell() {
        let words: [(StaleAnswersBoard.Word, String)] = [
            (.checks, "checks"), (.calls, "calls"), (.misses, "misses"), (.commits, "commits"),
        ]
        for (word, what) in words {
            let now = self.board[word]
            let before = self.state.withLock { $0.told.updateValue(now, forKey: word) } ?? 0
            self.stage.report.add(Int(now - before), what)
        }
        let stale = self.board[.stale]
        let before = self.state.withLock { $0.told.updateValue(stale, forKey: .stale) } ?? 0
        if stale > before { self.stage.report.violated("\(stale - before) stale answers, see above") }
    }

    // MARK: - Processes

    private func startReader(_ index: Int) throws -> StaleAnswersProcess {
        try self.start("stale-reader", index)
    }

    private func startWriter(_ index: Int) throws -> StaleAnswersProcess {
        try self.start("stale-writer", index)
    }

    private func start(_ role: String, _ index: Int) throws -> StaleAnswersProcess {
        let library = self.state.withLock { $0.libraries.randomElement(using: &$0.random) }
        if let library { self.stage.report.add(1, "with SQLite \(library.version)") }
        return try StaleAnswersProcess(
            [role, self.board.directory, "\(index)", "\(self.random())"],
            through: library?.launcher ?? [],
            self.stage.report
        )
    }

    /// Kills one process at whatever it does, mostly one that writes, and starts another in its place.
    private func killOne() async throws {
        if self.random(in: 0...15) == 0 {
            let index = self.random(in: 0...Self.readers - 1)
            await self.kill(self.state.withLock { $0.readers[index] })
            let reader = try self.startReader(index)
            self.state.withLock { $0.readers[index] = reader }
        } else {
            let index = self.random(in: 0...Self.writers - 1)
            await self.kill(self.state.withLock { $0.writers[index] })
            let writer = try self.startWriter(index)
            self.state.withLock { $0.writers[index] = writer }
        }
    }

    private func kill(_ process: StaleAnswersProcess) async {
        if await process.die() { self.stage.report.add(1, "deaths") }
    }

    // MARK: - Files

    /// Takes files away; waits until the readers are on those that are there then.
    private func takeFilesAway() async throws {
        let damages = StaleAnswersDamage.allCases
        let damage = damages[self.random(in: 0...damages.count - 1)]
        self.board.add(.unrest)
        if damage.losesCommits {
            // What was acknowledged may be lost with a log, and is old in files that somebody still has open.
            self.board.add(.era)
            for writer in self.state.withLock({ $0.writers }) { await self.kill(writer) }
        }
        damage.strike(self.board.store)
        self.stage.report.add(1, "breaks")
        self.board.add(.request)
        let deadline = ContinuousClock.now + .hangLimit
        while !(0..<Self.readers).allSatisfy(self.board.hasConfirmed) {
            guard ContinuousClock.now < deadline else {
                self.stage.report.violated("a reader is not back two minutes after \(damage)")
                break
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        if damage.losesCommits {
            self.board.forget()
            let writers = try (0..<Self.writers).map { try self.startWriter($0) }
            self.state.withLock { $0.writers = writers }
            self.board.add(.era)
        }
        self.board.add(.unrest)
    }
}

/// A process of this part, which must not end but when it is told to.
final class StaleAnswersProcess: Sendable {
    private let process: WorkerProcess
    private let report: Report
    private let isTold = Locked(false)

    init(_ arguments: [String], through launcher: [String], _ report: Report) throws {
        let process = try WorkerProcess(
            program: "breaker-torture", arguments: ["role"] + arguments, through: launcher)
        self.process = process
        self.report = report
        let isTold = self.isTold
        Task.detached {
            let code = await process.end()
            if code != 0, !isTold.withLock({ $0 }) {
                report.violated("\(arguments[0]) \(arguments[2]) ended by itself with \(code)")
            }
        }
    }

    /// Kills it with SIGKILL; false if it had ended before.
    func die() async -> Bool {
        self.isTold.withLock { $0 = true }
        await self.process.die()
        return await self.process.end() == -SIGKILL
    }

    /// Stops it with SIGSTOP.
    func stop() { self.process.stop() }

    /// Lets a stopped process go on.
    func goOn() { self.process.goOn() }

    /// Lets it end.
    func quit() async {
        self.isTold.withLock { $0 = true }
        self.judge(await self.process.quit())
    }

    /// Waits for its end, of which it knows by itself.
    func finish() async {
        self.isTold.withLock { $0 = true }
        self.judge(await self.process.end())
    }

    private func judge(_ code: Int32) {
        if code != 0 { self.report.violated("a process that was to end ended with \(code)") }
    }
}
