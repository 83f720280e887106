import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Another program that has run statements on a store's file and keeps what they locked.
final class LockHolder {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ store: String, _ statements: [String]) throws {
        let program = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            for statement in sys.argv[2:]: c.execute(statement)
            # In one piece, even if Python does not buffer.
            print('ready\\n', end='', flush=True)
            for statement in sys.stdin:
                c.execute(statement)
                print('done\\n', end='', flush=True)
            """
        self.process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        self.process.arguments = ["python3", "-c", program, store] + statements
        self.process.standardInput = self.input
        self.process.standardOutput = self.output
        try self.process.run()
        try self.hear("ready")
    }

    /// Runs one more statement.
    func run(_ statement: String) throws {
        try self.input.fileHandleForWriting.write(contentsOf: Data("\(statement)\n".utf8))
        try self.hear("done")
    }

    private func hear(_ word: String) throws {
        let said = self.output.fileHandleForReading.availableData
        try #require(String(decoding: said, as: UTF8.self).hasPrefix(word))
    }

    deinit { self.end() }

    /// Kills it, and returns once it is gone.
    func end() {
        // Zero would be this process's own group.
        guard self.pid > 0, self.process.isRunning else { return }
        kill(self.pid, SIGKILL)
        self.process.waitUntilExit()
    }

    var pid: Int32 { self.process.processIdentifier }

    /// Returns once it stands still.
    func stop() throws {
        kill(self.pid, SIGSTOP)
        while try !String(contentsOfFile: "/proc/\(self.pid)/stat", encoding: .utf8).contains(") T ") { usleep(1_000) }
    }
}
