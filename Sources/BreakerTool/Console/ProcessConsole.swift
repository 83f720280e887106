#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The standard streams of this process.
package final class ProcessConsole: Console {
    private static let bufferSize = 65_536

    private var buffer: [UInt8] = []
    /// The error of the first failed write to the output; after it nothing more is written.
    private var outputError: Int32?

    package let outputIsTerminal = isatty(STDOUT_FILENO) != 0
    package let errorIsTerminal = isatty(STDERR_FILENO) != 0
    package let canAsk = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0

    package init() {}

    package var width: Int? { self.outputIsTerminal ? Self.size(of: STDOUT_FILENO)?.columns : nil }

    package var height: Int? { self.outputIsTerminal ? Self.size(of: STDOUT_FILENO)?.rows : nil }

    package var errorWidth: Int? { self.errorIsTerminal ? Self.size(of: STDERR_FILENO)?.columns : nil }

    /// The size of a terminal; a terminal that does not know it says 0.
    private static func size(of descriptor: Int32) -> (columns: Int?, rows: Int?)? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return (size.ws_col > 0 ? Int(size.ws_col) : nil, size.ws_row > 0 ? Int(size.ws_row) : nil)
    }

    package var loginName: String {
        // The login name of the session, which `sudo` does not change; a service has no session.
        var name = [CChar](repeating: 0, count: 256)
        if unsafe getlogin_r(&name, name.count) == 0 {
            let bytes = name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
            if !bytes.isEmpty { return String(decoding: bytes, as: UTF8.self) }
        }
        let user = getuid()
        if let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name {
            return unsafe String(cString: name)
        }
        return "uid \(user)"
    }

    package var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "an unnamed host" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    package func write(_ text: String) {
        self.buffer.append(contentsOf: text.utf8)
        if self.buffer.count >= Self.bufferSize { self.flush() }
    }

    package func writeErrorAsItIs(_ text: String) {
        // Flushed, so that earlier output appears before the message.
        self.flush()
        _ = Descriptor.write(Array(text.utf8), to: STDERR_FILENO)
    }

    package func readLine() -> String? {
        self.flush()
        return Swift.readLine()
    }

    package func deferInterrupts() { Screen.deferInterrupts(true) }
    package func stopDeferringInterrupts() { Screen.deferInterrupts(false) }
    package var isInterrupted: Bool { Screen.deferredInterrupt != 0 }

    /// Writes the rest of the output; returns the exit code, or ends the process by the signal that interrupted it.
    ///
    /// A reader that has ended early, such as `head`, is no failure.
    package func finish(_ code: ExitCode, of program: Program) -> ExitCode {
        self.flush()
        if code == .interrupted, Screen.deferredInterrupt == SIGTERM {
            signal(SIGTERM, SIG_DFL)
            raise(SIGTERM)
        }
        guard let error = self.outputError, error != EPIPE, code == .done else { return code }
        let reason = unsafe String(cString: strerror(error))
        self.writeError("\(program.name): cannot write the output: \(reason)\n")
        return .failed
    }

    package func pause(for duration: Duration, listening: Bool) -> Pause {
        self.flush()
        if listening, self.outputError != nil { return .nobodyReads }
        let end = ContinuousClock.now + duration
        while true {
            let left = (end - .now) / .milliseconds(1)
            guard left > 0 else { return .isOver }
            // `poll` always reports a pipe without readers, and a terminal that hung up, whatever `events` has.
            var ends = [
                pollfd(fd: listening ? STDOUT_FILENO : -1, events: 0, revents: 0),
                pollfd(fd: listening ? Screen.disturbance : -1, events: Int16(POLLIN), revents: 0),
            ]
            // If a signal interrupts `poll` and matters here, its handler has written to the pipe.
            guard unsafe poll(&ends, 2, Int32(min(left.rounded(.up), 1_000_000))) > 0 else { continue }
            if ends[0].revents != 0 { return .nobodyReads }
            Screen.forgetDisturbances()
            return .disturbed
        }
    }

    package var hasWrittenAll: Bool { self.outputError == nil }

    package func enterScreen() {
        self.flush()
        Screen.enter()
    }

    package func leaveScreen() {
        self.flush()
        Screen.leave()
    }

    package func flush() {
        defer { self.buffer.removeAll(keepingCapacity: true) }
        guard self.outputError == nil, !self.buffer.isEmpty else { return }
        self.outputError = Descriptor.write(self.buffer, to: STDOUT_FILENO)
    }
}
