#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What one test has for itself: a directory, a clock, and the workers that it starts.
package final class Workplace: Sendable {
    @TaskLocal static var current: Workplace?

    package let directory: String
    package let clock: SharedClock
    private let workers = Locked<[WorkerProcess]>([])

    /// The workplace of the test that asks; its trait is `ownDirectory`.
    package static var here: Workplace {
        get throws {
            guard let current = self.current else {
                throw WorkerProcess.Failure(description: "the test lacks the trait .ownDirectory")
            }
            return current
        }
    }

    init() throws {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/breaker-tests-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("make a directory in \(base)") }
        self.directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.clock = try SharedClock(path: self.directory + "/clock")
    }

    /// Where the tests of this place keep their store.
    package var store: String { self.directory + "/circuits.db" }

    /// Starts a worker on this place's clock, by itself or by a program that runs another one.
    package func worker(through launcher: [String] = []) throws -> WorkerProcess {
        try self.start("breaker-worker", [self.clock.path], through: launcher)
    }

    /// Starts another program that talks like a worker.
    package func start(
        _ program: String,
        _ arguments: [String],
        through launcher: [String] = []
    ) throws -> WorkerProcess {
        let process = try WorkerProcess(program: program, arguments: arguments, through: launcher)
        self.workers.withLock { $0.append(process) }
        return process
    }

    /// Starts a worker that has the store open.
    package func openWorker() async throws -> WorkerProcess {
        let worker = try self.worker()
        try await worker.ask("open \(self.store)")
        return worker
    }

    /// Starts workers that have the store open, with options of the command that opens it.
    package func openWorkers(_ count: Int, _ options: String = "") async throws -> [WorkerProcess] {
        let workers = try (0..<count).map { _ in try self.worker() }
        _ = try await workers.ask("open \(self.store) \(options)")
        return workers
    }

    /// Ends all workers and removes the directory.
    func clear() {
        for worker in self.workers.withLock({ $0 }) { worker.clear() }
        Directory.remove(self.directory)
    }
}

extension [WorkerProcess] {
    /// Asks all at once, and waits for all answers, in the order of the workers.
    @discardableResult
    package func ask(_ command: String) async throws -> [Reply] { try await self.ask { _ in command } }

    /// Asks each for something else, all at once, and waits for all answers, in the order of the workers.
    @discardableResult
    package func ask(_ command: (Int) -> String) async throws -> [Reply] {
        try await withThrowingTaskGroup(of: (Int, Reply).self) { group in
            for (index, worker) in self.enumerated() {
                let text = command(index)
                group.addTask { (index, try await worker.ask(text)) }
            }
            var replies: [(Int, Reply)] = []
            for try await reply in group { replies.append(reply) }
            return replies.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
