import BreakerTestSupport
import CTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A shell's line that runs on a terminal of its own, and what it shows there.
final class Terminal {
    struct TimeIsOver: Error, CustomStringConvertible {
        let description: String
    }

    /// What takes longer hangs.
    private static let patience = Duration.hangLimit

    let pid: Int32
    private var otherEnd: Int32 = -1
    private var bytes: [UInt8] = []
    private var seen = 0
    private var isReaped = false

    /// - Parameter line: `$0` in it is the tool, and `$BREAKER_STORE` the store.
    init(_ line: String, store: String, columns: Int = 80, rows: Int = 24) throws {
        let words = ["sh", "-c", line, Child.tool.path]
        let settings = Child.environment(store).map { "\($0.key)=\($0.value)" }
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe settings.map { unsafe strdup($0) } + [nil]
        defer {
            for place in unsafe arguments.indices { unsafe free(arguments[place]) }
            for place in unsafe environment.indices { unsafe free(environment[place]) }
        }
        self.pid = unsafe ts_start_on_terminal(
            &self.otherEnd, Int32(columns), Int32(rows), "/bin/sh", &arguments, &environment)
        guard self.pid > 0 else { throw SystemError("start a shell on a terminal") }
    }

    deinit {
        if !self.isReaped {
            kill(self.pid, SIGKILL)
            _ = waitpid(self.pid, nil, 0)
        }
        close(self.otherEnd)
    }

    /// All that was shown, with plain line feeds.
    var shown: String { String(decoding: self.bytes, as: UTF8.self).replacing("\r\n", with: "\n") }

    /// Waits until a text is shown behind the one that was waited for before.
    func read(until text: String) throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            if let place = self.bytes[self.seen...].firstRange(of: Array(text.utf8)) {
                self.seen = place.upperBound
                return
            }
            guard try self.readOnce(until: deadline) else {
                throw TimeIsOver(description: "'\(text)' was not shown before the end: \(self.shown.suffix(1_000))")
            }
        }
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe write(self.otherEnd, bytes, bytes.count)
    }

    func resize(columns: Int, rows: Int) { _ = ts_resize(self.otherEnd, Int32(columns), Int32(rows)) }

    /// Waits until it has ended; returns the exit code, or a signal's number below zero.
    func end() throws -> Int32 {
        let deadline = ContinuousClock.now + Self.patience
        while try self.readOnce(until: deadline) {}
        var status: Int32 = 0
        while unsafe waitpid(self.pid, &status, 0) < 0 && errno == EINTR {}
        self.isReaped = true
        return ts_exit_code(status)
    }

    /// Returns false once nobody has the terminal open any more.
    private func readOnce(until deadline: ContinuousClock.Instant) throws -> Bool {
        var input = pollfd(fd: self.otherEnd, events: Int16(POLLIN), revents: 0)
        let left = (deadline - .now) / .milliseconds(1)
        guard left > 0, unsafe poll(&input, 1, Int32(left) + 1) != 0 else {
            throw TimeIsOver(description: "the time is over; shown is: \(self.shown.suffix(1_000))")
        }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // Linux says EIO where the other end is closed.
        let count = unsafe ts_read(self.otherEnd, &buffer, buffer.count)
        if count > 0 { self.bytes += buffer[..<count] }
        return count > 0
    }
}
