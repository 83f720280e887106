import BreakerStore
import BreakerTestSupport
import CRecorder

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Cuts the power of a disk that is made up.
///
/// Processes use a store, and all that they write is recorded, with all syncs and what was acknowledged when. From that
/// follow the files as a cut at any point may leave them, which are opened.
struct PowerCuts {
    private static let goal = 20_000
    private static let shortRounds = 2
    private static let roundsWithoutSync = 20

    private static let scenes: [PowerPlan.Scene] = [.calls, .creation, .calls, .quarantine, .full, .migration]
    private static let shortScenes: [[PowerPlan.Scene]] = [
        [.calls, .full, .again], [.creation, .migration, .quarantine],
    ]

    private let stage: Stage
    private let nextRound = Locked(0)
    private var report: Report { self.stage.report }

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        guard recorder_is_available() else {
            Report.say("power: there is no recorder in this build")
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // One lane is enough to notice a missing sync: a second one would go on with its round all the same.
            for _ in 0..<(self.stage.options.without == nil ? 2 : 1) { group.addTask { try await self.runLane() } }
            try await group.waitForAll()
        }
    }

    /// A sync that was left out on purpose is looked for until it is noticed, however slow the machine is.
    private var goesOn: Bool {
        self.stage.options.without == nil ? self.report.goesOn : self.report.violations == 0
    }

    private var isDone: Bool {
        if self.stage.options.without != nil { return self.nextRound.withLock { $0 } >= Self.roundsWithoutSync }
        if self.stage.options.isShort { return self.nextRound.withLock { $0 } >= Self.shortRounds }
        // With a duration it goes on until that is over.
        return self.stage.options.duration == nil && self.report.count(of: "states") >= Self.goal
    }

    /// Opens what is left in a process of its own, which dies if the library does.
    private func runLane() async throws {
        var process: WorkerProcess?
        defer { process?.clear() }
        while self.goesOn, !self.isDone {
            let round = self.nextRound.withLock { next in
                defer { next += 1 }
                return next
            }
            let seed = self.stage.options.seed &+ UInt64(round) &* 0x9E37_79B9
            let directory = "\(self.stage.directory)/\(round)"
            let judge =
                try process
                ?? WorkerProcess(
                    program: "breaker-torture", arguments: ["role", Role.powerRound.rawValue])
            process = judge
            let fault = self.stage.options.without?.rawValue ?? "nothing"
            let length = self.stage.options.isShort ? "short" : "long"
            do {
                let only = self.stage.options.only ?? ""
                self.report.take(try await judge.ask("\(seed) \(directory) \(length) \(round) \(fault) \(only)"), round)
            } catch {
                let code = await judge.end()
                let cut = String(decoding: FileBytes.read(PowerRound.note(in: directory)) ?? [], as: UTF8.self)
                self.report.violated("round \(round): the process that opens files ended with \(code), cut \(cut)")
                process = nil
            }
            Directory.remove(directory)
        }
        await process?.quit()
    }

    /// In the role of a judge: each line names a seed, a directory, a length, a number, what is left out,
    /// and the one scene that there is to be.
    static func judge() async -> Int32 {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 5, let seed = UInt64(words[0]), let round = Int(words[3]) else { return 64 }
            let answer: String
            do {
                answer = try await Self.answer(
                    seed, words[1], isShort: words[2] == "short", round, PowerFault(rawValue: words[4]),
                    only: words.count > 5 ? PowerPlan.Scene(rawValue: words[5]) : nil)
            } catch {
                answer = "!the harness itself failed: \(error)"
            }
            let bytes = Array((answer.split(separator: "\n").joined(separator: " ") + "\n").utf8)
            _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
        }
        return 0
    }

    /// Runs of the scenes; the last one begins with what a cut of the one before has left.
    private static func answer(
        _ seed: UInt64,
        _ directory: String,
        isShort: Bool,
        _ number: Int,
        _ fault: PowerFault?,
        only scene: PowerPlan.Scene?
    ) async throws -> String {
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError("make \(directory)") }
        var random = SeededRandom(seed: seed)
        let scenes: [PowerPlan.Scene] =
            if let scene {
                [scene]
            } else if fault != nil {
                [.calls]
            } else {
                isShort ? Self.shortScenes[number % 2] : [Self.scenes[number % Self.scenes.count], .again]
            }
        var fields: [String] = []
        var remainder: PowerRemainder?
        for scene in scenes {
            let plan =
                fault == nil
                ? PowerPlan(scene, isShort: isShort, using: &random) : PowerPlan(missingSyncUsing: &random)
            var round = PowerRound(plan, in: directory, without: fault, isShort: isShort)
            try await round.run(from: scene == .again ? remainder : nil, seed: random.next())
            remainder = round.remainder
            fields += round.counts.map { "\($0.count)=\($0.what)" } + ["1=runs of \(scene)"]
            fields += round.violations.map { "!" + $0.split(separator: "\t").joined(separator: " ") }
            guard round.violations.isEmpty else { break }
        }
        return fields.joined(separator: "\t")
    }
}
