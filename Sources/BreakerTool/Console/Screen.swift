#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The alternate screen of the terminal; however the process ends, it leaves this screen.
///
/// Signal handlers run its functions, too, so these call only functions that signal-safety(7) lists.
package enum Screen {
    // All variables are used by the only thread, and by the handlers, which interrupt it.
    nonisolated(unsafe) private static var isOn = false
    /// A pipe into which the handlers write when the screen may show something else (the self-pipe trick).
    ///
    /// A flag would not do: if a handler set it between its check and the pause, the pause would not end.
    nonisolated(unsafe) private static var disturbances: (output: Int32, input: Int32) = (-1, -1)

    /// Whether a verb handles an interrupt itself.
    nonisolated(unsafe) private static var defersInterrupts = false
    /// The first signal that arrived while interrupts were deferred; 0 without one.
    nonisolated(unsafe) private static var interrupt: Int32 = 0

    /// The escape sequences that show the alternate screen, empty, without a cursor.
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

    /// The descriptor that becomes readable when something has disturbed the screen; negative before `handleSignals`.
    package static var disturbance: Int32 { unsafe self.disturbances.output }

    /// Forgets all disturbances so far.
    package static func forgetDisturbances() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(self.disturbance, &bytes, bytes.count) > 0 {}
    }

    /// Begins or stops deferring interrupts.
    static func deferInterrupts(_ defers: Bool) { unsafe self.defersInterrupts = defers }

    /// The first signal that arrived while interrupts were deferred; 0 without one.
    static var deferredInterrupt: Int32 { unsafe self.interrupt }

    /// Stores the first interrupt for the verb that defers interrupts; false if the process must end now.
    private static func storeInterrupt(_ signal: Int32) -> Bool {
        guard unsafe self.defersInterrupts, unsafe self.interrupt == 0 else { return false }
        unsafe self.interrupt = signal
        return true
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
        // Initializes the static variables, which a handler must not do.
        self.leave()
        _ = unsafe (self.entering, self.leaving, self.disturbances, self.defersInterrupts, self.interrupt)
        // Safe at any time: a change is committed or not. The line feed ends the line that shows ^C.
        signal(SIGINT) { number in
            if Screen.storeInterrupt(number) { return }
            if unsafe Screen.isOn {
                Screen.leave()
            } else if isatty(STDERR_FILENO) != 0 {
                Screen.write("\n", to: STDERR_FILENO)
            }
            _exit(ExitCode.interrupted.rawValue)
        }
        // The default action ends the process when the handler has returned.
        signal(SIGTERM) { number in
            if Screen.storeInterrupt(number) { return }
            Screen.leave()
            signal(number, SIG_DFL)
            raise(number)
        }
        self.handleStop()
        signal(SIGCONT) { _ in
            Screen.handleStop()
            if unsafe Screen.isOn { Screen.enter() }
            Screen.setDisturbed()
        }
        signal(SIGWINCH) { _ in Screen.setDisturbed() }
    }

    private static func setDisturbed() {
        let error = errno
        // If the pipe is full, it is readable already.
        self.write("!", to: unsafe self.disturbances.input)
        errno = error
    }

    private static func handleStop() {
        signal(SIGTSTP) { number in
            // The handler of SIGCONT enters the screen again.
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
