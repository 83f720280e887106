import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Kills processes that call circuits in tight loops, and holds what the board has counted against their own logs.
///
/// Failing and slow ends that were acknowledged are counted, each once. Of other ends a kill loses no more than the
/// process had since its last tick. Where nobody was killed, the totals are exact.
final class CountsKills {
    private static let calls: Int64 = 400_000_000
    private static let (kills, shortKills) = (400, 8)
    private static let killsPerRound = 25
    /// A thread that is woken does not run at once.
    private static let margin: Int64 = 40_000

    private struct Life {
        let process: StaleAnswersProcess
        let began: Int64
        /// What the processes before it had acknowledged.
        let counts: [Int64]
    }

    private let stage: Stage
    private var random: SeededRandom
    private var report: Report { self.stage.report }
    private var directory = ""
    private var lives: [Life] = []
    /// Of each word that may be lost: the most that the kills of this round may have lost.
    private var bounds = [Int64](repeating: 0, count: CountsLog.losable.count)
    /// Of each process, what its own circuit has lost.
    private var lost = [Int64](repeating: 0, count: CountsLog.processes)
    private var rounds = 0

    init(_ stage: Stage) {
        self.stage = stage
        self.random = SeededRandom(seed: stage.options.seed)
    }

    func run() async throws {
        repeat {
            try await self.round(kills: 0)
            for _ in 0..<(self.stage.options.isShort ? 1 : 4) where !self.isDone {
                try await self.round(kills: self.stage.options.isShort ? Self.shortKills : Self.killsPerRound)
            }
        } while !self.isDone
    }

    private var isDone: Bool {
        if !self.report.goesOn { return true }
        if self.stage.options.isShort { return self.report.count(of: "kills") >= Self.shortKills }
        return self.stage.options.duration == nil && self.report.count(of: "kills") >= Self.kills
            && self.report.count(of: "calls") >= Self.calls
    }

    // MARK: - A round

    private func round(kills: Int) async throws {
        self.rounds += 1
        self.directory = "\(self.stage.directory)/kills-\(self.rounds)"
        guard unsafe mkdir(self.directory, 0o700) == 0 else { throw SystemError("make a directory") }
        defer { Directory.remove(self.directory) }
        let log = try CountsLog(self.directory)
        self.bounds = self.bounds.map { _ in 0 }
        self.lost = self.lost.map { _ in 0 }
        self.lives = []
        for process in 0..<CountsLog.processes { self.lives.append(try self.start(process, log)) }
        if kills == 0 {
            try await Task.sleep(for: .milliseconds(self.stage.options.isShort ? 700 : 3_000))
        }
        for _ in 0..<kills where self.report.goesOn {
            let range = self.stage.options.isShort ? 50...250 : 20...400
            try await Task.sleep(for: .milliseconds(Int.random(in: range, using: &self.random)))
            try await self.kill(Int.random(in: 0..<CountsLog.processes, using: &self.random), log)
        }
        log.isOver = true
        for life in self.lives { await life.process.finish() }
        try self.judge(log)
        self.report.add(1, kills == 0 ? "rounds without kills" : "rounds")
    }

    private func start(_ process: Int, _ log: CountsLog) throws -> Life {
        Life(
            process: try StaleAnswersProcess(
                ["counts-caller", self.directory, "\(process)", "\(self.random.next())"], through: [], self.report),
            began: KillLoop.uptime, counts: log.losable(of: process))
    }

    /// Kills a process, sees what it has lost, and starts another one in its place.
    private func kill(_ process: Int, _ log: CountsLog) async throws {
        let life = self.lives[process]
        let time = KillLoop.uptime
        guard await life.process.die() else { return }
        self.report.add(1, "kills")
        let counts = log.losable(of: process)
        let known = self.lastTick(of: life, process, before: time, log)
        for index in counts.indices { self.bounds[index] += counts[index] - known[index] }
        // Nobody but the dead adds to its own circuit.
        let incarnation = CountsBoard.incarnations(in: self.directory + "/circuits.db")[CountsLog.name(0, of: process)]
        let cell = CountsBoard(of: self.directory + "/circuits.db")?.cell(incarnation) ?? CountsBoard.Cell()
        let lost = max(0, counts[0] - cell.succeeded - self.lost[process])
        self.lost[process] += lost
        self.report.add(Int(lost), "lost")
        let isYoung = time - life.began < 2_000_000
        if lost > counts[0] - known[0] {
            self.report.violated(
                "process \(process), \((time - life.began) / 1_000) ms old, lost \(lost) calls of "
                    + "\(counts[0] - known[0]) since its last tick")
        } else if !isYoung {
            self.report.add(1, "kills of processes that ticked")
        }
        self.lives[process] = try self.start(process, log)
    }

    /// What the process had acknowledged a tick before it was killed, or somewhat before where the machine was late.
    private func lastTick(of life: Life, _ process: Int, before time: Int64, _ log: CountsLog) -> [Int64] {
        let samples = log.samples(of: process).filter { $0.uptime > life.began }
        var start = time - CountsCaller.tick - Self.margin
        // The library's threads were as late as the one that wrote these.
        let recent = samples.map(\.uptime).filter { $0 > start - CountsCaller.tick } + [time]
        start -= zip(recent, recent.dropFirst()).map { $1 - $0 }.max() ?? 0
        return samples.last { $0.uptime <= start }?.counts ?? life.counts
    }

    // MARK: - Judging

    /// Holds the board, and what the library says, against the logs of all processes.
    private func judge(_ log: CountsLog) throws {
        let path = self.directory + "/circuits.db"
        for violation in StoreJudge(StoreFile(path)).violations { self.report.violated(violation) }
        let incarnations = CountsBoard.incarnations(in: path)
        let board = CountsBoard(of: path)
        let store = try CountsCaller.openStore(self.directory)
        defer { store.close() }
        for circuit in CountsLog.circuits.indices {
            let names = circuit == 0 ? CountsLog.processes : 1
            for process in 0..<names {
                let name = CountsLog.name(circuit, of: process)
                let cell = board?.cell(incarnations[name]) ?? CountsBoard.Cell()
                let sum = { (word: CountsLog.Word) in
                    circuit == 0 ? log.count(word, 0, of: process) : log.sum(word, circuit)
                }
                self.judge(name, circuit, cell, sum)
                guard let snapshot = try store.circuit(named: name) else {
                    self.report.violated("\(name) is not in the file")
                    continue
                }
                let totals = snapshot.totals
                let told = [totals.succeeded, totals.failed, totals.slow, totals.ignored, totals.refused]
                let counted = [cell.succeeded, cell.failed, cell.slow, cell.ignored, cell.refused].map(UInt64.init)
                if told != counted {
                    self.report.violated("\(name): the board has \(counted), the library says \(told)")
                }
                let expected = circuit == 3 ? "held" : "closed"
                if !"\(snapshot.state)".contains(expected) {
                    self.report.violated("\(name) is \(snapshot.state)")
                }
                let calls = sum(.good) + sum(.failed) + sum(.slow) + sum(.slowFailed) + sum(.ignored) + sum(.refused)
                self.report.add(Int(calls), "calls")
                self.report.add(Int(sum(.failed) + sum(.slowFailed)), "failures")
            }
        }
    }

    private func judge(
        _ name: String, _ circuit: Int, _ cell: CountsBoard.Cell, _ sum: (CountsLog.Word) -> Int64
    ) {
        func require(_ count: Int64, _ least: Int64, _ most: Int64, _ what: String) {
            if count < least || count > most {
                self.report.violated("\(name): \(count) \(what), of at least \(least) and at most \(most)")
            }
        }
        func bound(_ word: CountsLog.Word) -> Int64 {
            CountsLog.losable.firstIndex { $0.circuit == circuit && $0.word == word }.map { self.bounds[$0] } ?? 0
        }
        require(
            cell.succeeded, sum(.good) + sum(.slow) - bound(.good), sum(.goodBegun) + sum(.slowBegun), "succeeded")
        require(
            cell.failed, sum(.failed) + sum(.slowFailed), sum(.failedBegun) + sum(.slowFailedBegun), "failed")
        let unknown = sum(.goodBegun) - sum(.good) + sum(.failedBegun) - sum(.failed) + sum(.perhapsSlow)
        require(
            cell.slow, sum(.slow) + sum(.slowFailed),
            circuit == 2 ? sum(.slowBegun) + sum(.slowFailedBegun) + unknown : 0, "slow")
        require(cell.ignored, sum(.ignored) - bound(.ignored), sum(.ignoredBegun), "ignored")
        require(cell.refused, sum(.refused) - bound(.refused), sum(.refusedBegun), "refused")
    }
}
