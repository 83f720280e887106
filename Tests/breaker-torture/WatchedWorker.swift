import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A worker that is killed if it gives no answer in time, and what becomes of it.
final class WatchedWorker: Sendable {
    /// What it answered, or how it ended.
    enum Answer {
        case done(Reply)
        /// The library threw an error of this code.
        case refused(code: String, String)
        case violation(String)
    }

    private let process: WorkerProcess
    private let patience: Duration
    /// The most bytes that it may take.
    private let memory: Int
    private let state = Locked((hasEnded: false, isHung: false))

    init(patience: Duration, memory: Int = .max) throws {
        self.process = try WorkerProcess()
        self.patience = patience
        self.memory = memory
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
            let reply = try await self.process.ask(command + " ; memory")
            guard let taken = reply.number("taken"), taken > self.memory else { return .done(reply) }
            // Told once.
            try await self.process.ask("memory begin")
            return .violation("it took \(taken >> 20) MB")
        } catch let failure as WorkerProcess.Failure {
            guard let answer = failure.answer else { return .violation(await self.end()) }
            return failure.code.map { .refused(code: $0, answer) } ?? .violation(answer)
        } catch {
            return .violation("\(error)")
        }
    }

    private func end() async -> String {
        let code = await self.process.end()
        let isHung = self.state.withLock {
            $0.hasEnded = true
            return $0.isHung
        }
        return isHung ? "it hung" : "the process died: \(code)"
    }
}
