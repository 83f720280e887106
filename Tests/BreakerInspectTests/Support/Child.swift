import BreakerTestSupport
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process of its own.
struct Child {
    struct Result {
        var code: Int32
        var output: String
        var talk: String
    }

    /// The tool as it was built, which lies beside the tests.
    static var tool: URL {
        let program = CommandLine.arguments.first ?? ""
        let beside = Bundle.allBundles.map(\.bundleURL) + [URL(fileURLWithPath: program)]
        let found = beside.map { $0.deletingLastPathComponent().appendingPathComponent("breaker-inspect") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        return found ?? URL(fileURLWithPath: "breaker-inspect")
    }

    /// Runs a shell's line in which `$0` is the tool and `$BREAKER_STORE` the store.
    static func shell(_ line: String, store: String) throws -> Result {
        let process = Self.process(line, store)
        let output = Pipe()
        let talk = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = talk
        try Self.start(process)
        // Little is said on the standard error stream: it fits the pipe.
        let said = output.fileHandleForReading.readDataToEndOfFile()
        let talked = talk.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            code: process.terminationStatus, output: String(decoding: said, as: UTF8.self),
            talk: String(decoding: talked, as: UTF8.self))
    }

    /// The same for what takes long: no thread of the pool waits for it.
    static func shellAside(_ line: String, store: String) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try Self.shell(line, store: store) }) }
        }
    }

    /// A line that repeats a command until it succeeds; it ends the shell after some minutes.
    static func until(_ command: String) -> String {
        "n=0; until \(command); do n=$((n+1)); [ $n -lt 6000 ] || exit 99; sleep 0.02; done"
    }

    /// Runs a shell's line on a terminal of so many columns; once `prompt` is shown, `reaction` is called.
    static func terminal(
        _ line: String,
        store: String,
        columns: Int,
        prompt: String? = nil,
        reaction: (Terminal) throws -> Void = { _ in }
    ) throws -> Result {
        let terminal = try Terminal(line, store: store, columns: columns)
        if let prompt {
            try terminal.read(until: prompt)
            try reaction(terminal)
        }
        let code = try terminal.end()
        return Result(code: code, output: terminal.shown, talk: "")
    }

    /// The threads of Swift's pool block most signals, and a child would inherit that.
    private static func start(_ process: Process) throws {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    private static func process(_ line: String, _ store: String) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", line, Self.tool.path]
        process.environment = Self.environment(store)
        return process
    }

    static func environment(_ store: String) -> [String: String] {
        let settings = ["BREAKER_STORE": store, "PATH": "/usr/bin:/bin", "TERM": "xterm"]
        return settings.merging(ChildEnvironment.withoutProfile) { _, new in new }
    }
}

extension Child {
    /// A process that goes on while the test does other things, and is killed with this value.
    ///
    /// Not Foundation's: its `Process` would wait for all that a process leaves behind.
    final class Lasting {
        let pid: Int32
        private var hasEnded = false

        /// The standard streams are those of the tests.
        init(_ command: [String], store: String) throws {
            let variables = ProcessInfo.processInfo.environment.merging(["BREAKER_STORE": store]) { _, own in own }
            self.pid = try unsafe spawn(command, environment: variables.map { "\($0)=\($1)" }) { _ in }
        }

        deinit { self.end() }

        func end() {
            guard !self.hasEnded else { return }
            self.hasEnded = true
            kill(self.pid, SIGKILL)
            waitpid(self.pid, nil, 0)
        }
    }
}
