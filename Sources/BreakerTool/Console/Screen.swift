#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The alternate screen of the terminal, which every way out of the process gives back.
///
/// Its functions run in handlers of signals, too: they call nothing but what signal-safety(7) lists.
package enum Screen {
    // Written by the one thread there is, and read by the handlers, which interrupt it.
    nonisolated(unsafe) private static var isOn = false
    /// The ends of a pipe into which the handlers write that what stands on the screen may be something else by now.
    ///
    /// A flag could be raised between the look at it and the pause, which would go on.
    nonisolated(unsafe) private static var disturbances: (output: Int32, input: Int32) = (-1, -1)

    /// The other screen, empty, without a cursor.
    private static let entering: StaticString = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H\u{1B}[2J"
    private static let leaving: StaticString = "\u{1B}[?25h\u{1B}[?1049l"

    package static func enter() {
        unsafe self.isOn = true
        self.write(self.entering, to: STDOUT_FILENO)
    }

    package static func leave() {
        guard unsafe self.isOn else { return }
        self.write(self.leaving, to: STDOUT_FILENO)
        unsafe self.isOn = false
    }

    /// What can be read once something has disturbed the screen; below zero before the signals are handled.
    package static var disturbance: Int32 { unsafe self.disturbances.output }

    /// Forgets what has disturbed it so far.
    package static func forgetDisturbances() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(self.disturbance, &bytes, bytes.count) > 0 {}
    }

    package static func handleSignals() {
        var ends: [Int32] = [-1, -1]
        if unsafe pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            }
            unsafe self.disturbances = (output: ends[0], input: ends[1])
        }
        // Nothing may be made for the first time in a handler.
        self.leave()
        _ = unsafe (self.entering, self.leaving, self.disturbances)
        // A change is committed or not, whenever the process ends. The line that shows ^C is ended.
        signal(SIGINT) { _ in
            if unsafe Screen.isOn {
                Screen.leave()
            } else if isatty(STDERR_FILENO) != 0 {
                Screen.write("\n", to: STDERR_FILENO)
            }
            _exit(ExitCode.interrupted.rawValue)
        }
        // The default follows, once the handler has returned.
        signal(SIGTERM) { number in
            Screen.leave()
            signal(number, SIG_DFL)
            raise(number)
        }
        self.handleStop()
        signal(SIGCONT) { _ in
            Screen.handleStop()
            if unsafe Screen.isOn { Screen.enter() }
            Screen.noteDisturbance()
        }
        signal(SIGWINCH) { _ in Screen.noteDisturbance() }
    }

    private static func noteDisturbance() {
        let error = errno
        // A pipe that is full says the same.
        self.write("!", to: unsafe self.disturbances.input)
        errno = error
    }

    private static func handleStop() {
        signal(SIGTSTP) { number in
            // It is taken again when the process goes on.
            if unsafe Screen.isOn { Screen.write(Screen.leaving, to: STDOUT_FILENO) }
            signal(number, SIG_DFL)
            raise(number)
        }
    }

    private static func write(_ text: StaticString, to descriptor: Int32) {
        #if canImport(Darwin)
        _ = unsafe Darwin.write(descriptor, text.utf8Start, text.utf8CodeUnitCount)
        #elseif canImport(Musl)
        _ = unsafe Musl.write(descriptor, text.utf8Start, text.utf8CodeUnitCount)
        #else
        _ = unsafe Glibc.write(descriptor, text.utf8Start, text.utf8CodeUnitCount)
        #endif
    }
}
