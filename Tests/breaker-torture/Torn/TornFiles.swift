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
    static let patience = Duration.hangLimit

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
        var opener: WatchedWorker?
        while self.report.goesOn, let (number, torn) = waiting.withLock({ $0.popLast() }) {
            let directory = try self.directory(named: "\(number)")
            defer { Directory.remove(directory) }
            let process = try opener ?? WatchedWorker(patience: Self.patience)
            opener = process
            let problems = try await torn.run(in: directory, process, self.report)
            for problem in problems { self.report.violated("\(torn): \(problem)") }
            self.report.add(1, torn.kind)
            if process.hasEnded { opener = nil }
        }
        await opener?.leave()
    }
}
