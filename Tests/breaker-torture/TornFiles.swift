import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Cuts and garbles the files of a store, before it is opened and while it is open: opening neither crashes nor hangs,
/// the store works afterwards, and the old bytes are kept where they were not taken over.
struct TornFiles {
    private let stage: Stage
    private var report: Report { self.stage.report }

    /// What one of them does, the others need not wait for.
    private static let lanes = 2
    /// An answer that has not come by then never will.
    static let patience = Duration.seconds(60)

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        var random = SeededRandom(seed: self.stage.options.seed)
        let stores = try ["with a log", "without a log"].map { name in
            let directory = try self.directory(named: name.split(separator: " ").joined())
            return try StoreBytes(name, in: directory, isCopied: name == "without a log")
        }
        var cases = TornCase.all(of: stores, &random)
        if self.stage.options.isShort { cases = TornCase.some(of: cases, &random) }
        cases.shuffle(using: &random)
        let waiting = Locked(Array(cases.enumerated().reversed()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes {
                group.addTask { try await self.work(on: waiting, in: lane) }
            }
            try await group.waitForAll()
        }
    }

    private func directory(named name: String) throws -> String {
        let directory = "\(self.stage.directory)/\(name)"
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError("make \(directory)") }
        return directory
    }

    private func work(on waiting: Locked<[(offset: Int, element: TornCase)]>, in lane: Int) async throws {
        var opener: OpenerProcess?
        while self.report.goesOn, let (number, torn) = waiting.withLock({ $0.popLast() }) {
            let directory = try self.directory(named: "\(number)")
            defer { Directory.remove(directory) }
            let process = try opener ?? OpenerProcess()
            opener = process
            let problems = try await torn.run(in: directory, process, self.report)
            for problem in problems { self.report.violated("\(torn): \(problem)") }
            self.report.add(1, torn.kind)
            if process.hasEnded { opener = nil }
        }
        await opener?.leave()
    }
}

/// A process in the role of an opener, and what becomes of it.
final class OpenerProcess: Sendable {
    /// What it answered, or how it ended.
    enum Answer {
        case opened(milliseconds: Int)
        case refused(code: String, String)
        case violation(String)
    }

    private let process: WorkerProcess
    private let patience: Duration
    private let state = Locked((hasEnded: false, isHung: false))

    init(_ role: Role = .opener, patience: Duration = TornFiles.patience) throws {
        self.process = try WorkerProcess(program: "breaker-torture", arguments: ["role", role.rawValue])
        self.patience = patience
    }

    var hasEnded: Bool { self.state.withLock { $0.hasEnded } }
    /// Whether it gave no answer in time.
    var isHung: Bool { self.state.withLock { $0.isHung } }

    /// Ends it, whatever it waits for.
    func abandon() { self.process.clear() }

    func leave() async { _ = await self.process.quit() }

    func ask(_ command: String) async -> Answer {
        let watch = Task {
            try await Task.sleep(for: self.patience)
            self.state.withLock { $0.isHung = true }
            kill(self.process.pid, SIGKILL)
        }
        defer { watch.cancel() }
        do {
            let text = try await self.process.ask(command).description
            let words = text.split(separator: " ", maxSplits: 2).map(String.init)
            switch words.first {
            case "opened":
                return .opened(milliseconds: words.count > 1 ? Int(words[1].dropFirst(3)) ?? 0 : 0)
            case "refused": return .refused(code: words[1], words.count > 2 ? words[2] : "")
            default: return .violation(text)
            }
        } catch {
            let code = await self.process.end()
            let isHung = self.state.withLock {
                $0.hasEnded = true
                return $0.isHung
            }
            return .violation(isHung ? "it hung" : "the process died: \(code)")
        }
    }
}
