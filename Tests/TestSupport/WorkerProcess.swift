import CTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A running worker program: one line asks, one line answers.
///
/// Its output is read whether or not somebody waits for it. A workplace kills and reaps it in the end.
package final class WorkerProcess: Sendable {
    /// The worker said that it could not do what it was asked.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// What the worker said; nil if it has ended.
        package var answer: String?

        /// The code of an error that the library threw in the worker; nil for another failure.
        package var code: String? {
            let words = self.answer?.split(separator: ":", maxSplits: 1).first?.split(separator: ".") ?? []
            return words.count == 2 && words[0] == "BreakerStoreError" ? String(words[1]) : nil
        }
    }

    private struct State {
        var waiting: [CheckedContinuation<String, any Error>] = []
        var onEnd: [CheckedContinuation<Void, Never>] = []
        var line: [UInt8] = []
        var isSilent = false
        var isInputOpen = true
        var exitCode: Int32?
    }

    package let pid: Int32
    private let input: Int32
    private let state = Locked(State())

    /// Starts a worker program: the path of one, or the name of one that was built beside the tests.
    ///
    /// - Parameters:
    ///   - launcher: the words of a command that runs it; none for by itself.
    ///   - errors: a new file that its standard error goes to; nil for where this process's goes.
    package init(
        program: String = "breaker-worker",
        arguments: [String] = [],
        through launcher: [String] = [],
        errors: String? = nil
    ) throws {
        _ = Self.ignoreBrokenPipes
        let toWorker = try Pipe()
        let fromWorker = try Pipe()
        let path = program.hasPrefix("/") ? program : BuiltProgram.path(of: program)
        let command = launcher + [path] + arguments
        self.pid = try Self.start(command, input: toWorker.readEnd, output: fromWorker.writeEnd, errors: errors)
        close(toWorker.readEnd)
        close(fromWorker.writeEnd)
        self.input = toWorker.writeEnd
        self.listen(fromWorker.readEnd)
    }

    /// Sends a command and waits for the answer; throws if the worker could not do it, or has ended.
    @discardableResult
    package func ask(_ command: String) async throws -> Reply {
        // A test whose time is over waits for nobody.
        let text = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
                self.send(command, continuation)
            }
        } onCancel: {
            self.send(SIGKILL)
        }
        if text.hasPrefix("error ") {
            let answer = String(text.dropFirst(6))
            throw Failure(description: "worker \(self.pid), asked '\(command)': \(answer)", answer: answer)
        }
        return Reply(text)
    }

    private func send(_ command: String, _ continuation: CheckedContinuation<String, any Error>) {
        let isSilent = self.state.withLock {
            if !$0.isSilent { $0.waiting.append(continuation) }
            return $0.isSilent
        }
        if isSilent { return continuation.resume(throwing: Failure(description: "worker \(self.pid) has ended")) }
        let bytes = Array((command + "\n").utf8)
        // A worker that has just died is told by the end of its output.
        _ = unsafe write(self.input, bytes, bytes.count)
    }

    /// Lets the worker leave by itself; returns its exit code, or a signal's number below zero.
    @discardableResult
    package func quit() async -> Int32 {
        self.closeInput()
        return await self.end()
    }

    /// Kills the worker with SIGKILL and waits until it is gone.
    package func die() async {
        self.send(SIGKILL)
        _ = await self.end()
    }

    /// Waits until the worker is gone; returns its exit code, or a signal's number below zero.
    package func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            let isSilent = self.state.withLock {
                if !$0.isSilent { $0.onEnd.append(continuation) }
                return $0.isSilent
            }
            if isSilent { continuation.resume() }
        }
        return self.reap()
    }

    /// Tells the worker to end, as an operator does.
    package func terminate() { self.send(SIGTERM) }

    /// Halts the worker where it is; returns once it stands still, or is gone.
    package func stop() {
        self.send(SIGSTOP)
        // A signal is only on its way when `kill` returns: the worker may go on for long on a busy machine.
        while ts_is_halted(self.pid) == 0, !self.state.withLock(\.isSilent) { usleep(500) }
    }

    /// Lets a halted worker go on.
    package func goOn() { self.send(SIGCONT) }

    private func send(_ signal: Int32) {
        // Not to a number that is another process's by now.
        self.state.withLock { if $0.exitCode == nil { _ = kill(self.pid, signal) } }
    }

    /// Makes sure that nothing is left of the worker.
    package func clear() {
        self.send(SIGKILL)
        self.closeInput()
        _ = self.reap()
    }

    // MARK: - The process

    private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    private func closeInput() {
        let isOpen = self.state.withLock { state in
            defer { state.isInputOpen = false }
            return state.isInputOpen
        }
        if isOpen { close(self.input) }
    }

    private func reap() -> Int32 {
        self.state.withLock {
            if let code = $0.exitCode { return code }
            var status: Int32 = 0
            while unsafe waitpid(self.pid, &status, 0) < 0 && errno == EINTR {}
            let code = ts_exit_code(status)
            $0.exitCode = code
            return code
        }
    }

    private static func start(_ command: [String], input: Int32, output: Int32, errors: String?) throws -> pid_t {
        let environment = ChildEnvironment.inherited.map { "\($0)=\($1)" }
        return try unsafe spawn(command, environment: environment) { actions in
            unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
            unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
            if let errors {
                let flags = O_WRONLY | O_CREAT | O_TRUNC
                unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0o600)
            }
        }
    }

    // MARK: - Its output

    /// On a thread of its own: a hundred workers must not fill a pool.
    private func listen(_ descriptor: Int32) {
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe read(descriptor, &bytes, bytes.count)
                if count > 0 {
                    self.hear(bytes[..<count])
                } else if count == 0 || errno != EINTR {
                    break
                }
            }
            close(descriptor)
            self.fallSilent()
        }
    }

    private func hear(_ bytes: ArraySlice<UInt8>) {
        let answered = self.state.withLock { state in
            var answered: [(CheckedContinuation<String, any Error>, String)] = []
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    state.line.append(byte)
                    continue
                }
                if !state.waiting.isEmpty {
                    answered.append((state.waiting.removeFirst(), String(decoding: state.line, as: UTF8.self)))
                }
                state.line.removeAll()
            }
            return answered
        }
        for (continuation, line) in answered { continuation.resume(returning: line) }
    }

    private func fallSilent() {
        let (waiting, onEnd) = self.state.withLock { state in
            state.isSilent = true
            defer {
                state.waiting.removeAll()
                state.onEnd.removeAll()
            }
            return (state.waiting, state.onEnd)
        }
        for continuation in waiting {
            continuation.resume(throwing: Failure(description: "worker \(self.pid) has ended without an answer"))
        }
        for continuation in onEnd { continuation.resume() }
    }
}

/// Two ends that no other child of this process inherits.
private struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard unsafe ts_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
        self.readEnd = ends[0]
        self.writeEnd = ends[1]
    }
}
