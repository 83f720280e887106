import BreakerStore
import BreakerTestSupport

/// What the programs beside the library say to a circuit: the tool, or one in Python.
final class HistoryOperators: Sendable {
    /// What was said, written down by the process that started the program.
    struct Word {
        var circuit: Int
        var begin: Int64
        var end: Int64
        var clock: ClosedRange<Int64>
        /// Several where the program asks before it reports.
        var whats: [HistoryEvent.What]
        var isCertain: Bool
    }

    private static let package = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4).joined(separator: "/")

    private let plan: HistoryPlan
    private let clock: SharedClock?
    private let python: WorkerProcess?

    init(_ plan: HistoryPlan) async throws {
        self.plan = plan
        guard !plan.isSystemClock else {
            (self.clock, self.python) = (nil, nil)
            return
        }
        self.clock = try SharedClock(path: plan.clock)
        let python = try WorkerProcess(
            program: "/usr/bin/env",
            arguments: [
                "python3", Self.package + "/Tests/Python/foreign_worker.py", Self.package + "/docs/store-format.md",
                plan.clock,
            ])
        self.python = python
        try await python.ask("open \(plan.store)")
        try await python.ask("register python")
    }

    func clear() { self.python?.clear() }

    private var uptime: Int64 { self.clock?.uptime.saturatingMicroseconds ?? 0 }

    /// Says something at random about one of the circuits of a history; nil where the program could not be started.
    func speak(in phase: Int64, _ random: inout SeededRandom) async throws -> Word {
        let circuit = Int.random(in: 0..<self.plan.circuits, using: &random)
        let name = HistoryPlan.name(circuit, in: phase)
        let choice = Int.random(in: 0..<(self.python == nil ? 6 : 8), using: &random)
        let before = self.uptime
        let begin = CallLog.now
        let (whats, isCertain) =
            if let python { try await Self.ask(python, name, choice) } else { try await self.run(name, choice) }
        let end = CallLog.now
        return Word(
            circuit: circuit, begin: begin, end: end, clock: before...max(before, self.uptime), whats: whats,
            isCertain: isCertain)
    }

    // MARK: - The tool

    private func run(_ name: String, _ choice: Int) async throws -> ([HistoryEvent.What], Bool) {
        let (words, action): ([String], HistoryEvent.Action) =
            switch choice {
            case 0: (["reset", name], .reset)
            case 1: (["hold", "open", name], .hold(isOpen: true, time: nil))
            case 2: (["hold", "closed", name], .hold(isOpen: false, time: nil))
            case 3: (["release", name], .release)
            case 4: (["forget", name, "--force", "--yes"], .forget)
            default: (["probe", name], .probe)
            }
        let tool = try WorkerProcess(
            program: "breaker-inspect", arguments: words + ["--store", self.plan.store],
            errors: self.plan.directory + "/tool")
        switch await tool.quit() {
        case 0: return ([.operated(action, found: true)], true)
        case 4: return ([.operated(action, found: false)], true)
        default: return ([.operated(action, found: nil)], false)
        }
    }

    // MARK: - Python

    /// Unlike the tool, the program does not say whether the circuit is there.
    private static func ask(
        _ python: WorkerProcess, _ name: String, _ choice: Int
    ) async throws -> ([HistoryEvent.What], Bool) {
        func word(_ command: String, _ action: HistoryEvent.Action) async -> ([HistoryEvent.What], Bool) {
            let answer = try? await python.ask(command)
            return ([.operated(action, found: nil)], answer != nil)
        }
        switch choice {
        case 0: return await word("reset \(name) python", .reset)
        case 1: return await word("hold \(name) open 0 python", .hold(isOpen: true, time: nil))
        case 2: return await word("hold \(name) closed 5 python", .hold(isOpen: false, time: 5_000_000))
        case 3: return await word("release \(name) python", .release)
        case 4: return await word("probe \(name) python", .probe)
        default:
            guard let answer = try? await python.ask("call \(name) 1 fail") else { return ([], true) }
            switch answer["calls"] {
            case "counted", "tripped", "stale":
                return ([.counted(0), .reported(of: 0, .failure, isKnown: true)], true)
            default: return ([], true)
            }
        }
    }
}
