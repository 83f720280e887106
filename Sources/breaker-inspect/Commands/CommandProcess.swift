import BreakerTool
import CBreakerCommand

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A command that runs as a child of this process, and gets its signals and its terminal.
///
/// The command has a process group of its own, which gets the terminal's foreground if this process's group has it.
/// Beside other programs of a pipeline on a terminal the command stays in their group: there the terminal reaches all.
/// One thread waits for all that happens: signals, the command's end, and the next time at which something is due.
struct CommandProcess {
    /// What happens while the command runs.
    struct Duties {
        /// The uptime now.
        var uptime: () -> Duration
        /// The command's time limit; nil for none.
        var timeout: Duration?
        /// When the first renewal is due; nil if nothing is to be renewed.
        var firstRenewal: Duration?
        /// Renews the lease; returns after how long it is due again, nil if there is nothing to renew any more.
        var renew: () -> Duration?
    }

    struct Result {
        var end: CommandEnd
        var isTimedOut = false
        /// The terminal's Ctrl-C has ended the command: the processes of this group are to get it, too.
        var interruption = Interruption.none
    }

    /// Whether Ctrl-C on the terminal has ended the command.
    enum Interruption {
        case none
        /// This process has got the signal, too.
        case ofAll
        /// The command's group had the terminal's foreground, so no other process got the signal.
        case ofCommandAlone
    }

    private enum Group {
        case own
        case shared
    }

    /// The time between the signal that asks the command to end and the one that ends it.
    static let grace = Duration.seconds(5)

    private let pid: pid_t
    private let group: Group
    /// The terminal whose foreground the command's group gets; negative for none.
    private let terminal: Int32
    private var hasForeground: Bool
    private var isInterruptedByTerminal = false

    /// Runs a command to its end; nil if no process can be made.
    ///
    /// - Parameter words: the program and its arguments.
    static func run(_ words: [String], _ duties: Duties) -> Result? {
        let terminal = bc_open_terminal()
        defer { if terminal >= 0 { close(terminal) } }
        let isForeground = terminal >= 0 && bc_is_foreground(terminal) != 0
        let isInteractive = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0
        let group: Group = isForeground && !isInteractive && duties.timeout == nil ? .shared : .own
        let givesForeground = isForeground && isInteractive
        let arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var error: Int32 = 0
        // The array's buffer lives for the whole call, and the child has executed the program before it returns.
        let pid = unsafe arguments.withUnsafeBufferPointer { buffer -> pid_t in
            var command = unsafe bc_command()
            unsafe command.words = buffer.baseAddress
            unsafe command.has_own_group = group == .own ? 1 : 0
            unsafe command.terminal = givesForeground ? terminal : -1
            unsafe command.adopts_orphans = duties.timeout == nil ? 0 : 1
            return unsafe bc_start(&command, &error)
        }
        if pid < 0 { return nil }
        var process = CommandProcess(
            pid: pid, group: group, terminal: group == .own ? terminal : -1,
            hasForeground: givesForeground)
        defer { process.takeForeground() }
        guard pid > 0 else { return Result(end: .notExecuted(isMissing: error == ENOENT)) }
        return process.wait(duties)
    }

    // MARK: - Waiting

    private mutating func wait(_ duties: Duties) -> Result {
        var isTimedOut = false
        /// When the next signal to the whole group is due.
        var limit = duties.timeout.map { duties.uptime() + $0 }
        var renewal = duties.firstRenewal
        while true {
            self.passSignals()
            var number: Int32 = 0
            switch unsafe bc_poll(self.pid, &number) {
            case bc_exited: return self.ended(.exited(number), isTimedOut, by: limit, duties)
            case bc_killed: return self.ended(.killed(signal: number), isTimedOut, by: limit, duties)
            case bc_stopped: self.stopped(by: number)
            default: break
            }
            let now = duties.uptime()
            if let due = limit, now >= due {
                if isTimedOut {
                    self.send(SIGKILL)
                    limit = nil
                } else {
                    isTimedOut = true
                    self.send(SIGTERM)
                    // A stopped process gets a signal only once it goes on.
                    self.send(SIGCONT)
                    limit = now + Self.grace
                }
            }
            if let due = renewal, now >= due { renewal = duties.renew().map { duties.uptime() + $0 } }
            self.sleep(until: [limit, renewal].compactMap(\.self).min(), at: duties.uptime())
        }
    }

    private func sleep(until time: Duration?, at now: Duration) {
        guard let time else { return bc_wait_for_signal(-1) }
        // Rounded up, so that it is due when the wait is over.
        let milliseconds = ((time - now) / .milliseconds(1)).rounded(.up)
        bc_wait_for_signal(Int32(min(max(milliseconds, 0), 1_000_000)))
    }

    /// The command has ended; after a time-out, waits until its group has ended, too.
    private mutating func ended(
        _ end: CommandEnd, _ isTimedOut: Bool, by limit: Duration?, _ duties: Duties
    ) -> Result {
        if isTimedOut, self.group == .own {
            // The kernel ends a killed process soon, unless it waits for a disk.
            var (due, isKilled) = (limit ?? duties.uptime(), false)
            while bc_group_runs(self.pid) != 0 {
                let now = duties.uptime()
                if now >= due {
                    if isKilled { break }
                    kill(-self.pid, SIGKILL)
                    (due, isKilled) = (now + Self.grace, true)
                }
                self.sleep(until: min(due, now + .milliseconds(50)), at: now)
                self.dropSignals()
            }
        }
        var result = Result(end: end, isTimedOut: isTimedOut)
        if end == .killed(signal: SIGINT), !isTimedOut {
            if self.hasForeground {
                result.interruption = .ofCommandAlone
            } else if self.isInterruptedByTerminal {
                result.interruption = .ofAll
            }
        }
        return result
    }

    // MARK: - Signals

    private func send(_ signal: Int32) {
        switch self.group {
        case .own: kill(-self.pid, signal)
        // The group has other programs' processes.
        case .shared: kill(self.pid, signal)
        }
    }

    /// Returns whether this process was told to go on after a stop.
    @discardableResult
    private mutating func passSignals() -> Bool {
        var wasContinued = false
        var isOfTerminal: Int32 = 0
        while true {
            let signal = unsafe bc_next_signal(&isOfTerminal)
            if signal == 0 { return wasContinued }
            if signal == SIGCONT { wasContinued = true }
            if signal == SIGCHLD { continue }
            if signal == SIGINT, isOfTerminal != 0 { self.isInterruptedByTerminal = true }
            switch self.group {
            case .own: self.send(signal)
            // The terminal has sent it to the command, too.
            case .shared: if isOfTerminal == 0 { self.send(signal) }
            }
        }
    }

    private func dropSignals() {
        var isOfTerminal: Int32 = 0
        while unsafe bc_next_signal(&isOfTerminal) != 0 {}
    }

    // MARK: - The terminal

    /// The command was stopped: stops this process's group, too, so that the shell notices; then both go on.
    ///
    /// A command that was stopped because it used the terminal from the background gets the foreground, if this group
    /// has it by now: the shell's `fg` gives it to this group alone.
    private mutating func stopped(by signal: Int32) {
        guard self.terminal >= 0, self.group == .own else { return }
        let wantsTerminal = signal == SIGTTIN || signal == SIGTTOU
        if !wantsTerminal || bc_is_foreground(self.terminal) == 0 {
            self.takeForeground()
            bc_stop_own_group(signal == SIGSTOP ? SIGSTOP : SIGTSTP)
            // The kernel stops no group that no shell watches. It ends a command that then waits for the terminal.
            if !self.passSignals(), wantsTerminal { self.send(SIGHUP) }
        }
        // The shell has made this group the foreground, or lets it go on in the background.
        if bc_is_foreground(self.terminal) != 0 {
            bc_give_foreground(self.terminal, self.pid)
            self.hasForeground = true
        }
        self.send(SIGCONT)
    }

    private mutating func takeForeground() {
        guard self.hasForeground else { return }
        bc_give_foreground(self.terminal, getpgrp())
        self.hasForeground = false
    }
}
