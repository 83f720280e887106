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
/// In a pipeline on a terminal the command stays in this process's group, unless it has a time limit: so all programs
/// of the pipeline keep the terminal.
/// One thread waits for all that happens: signals, the command's end, and the next time at which something is due.
struct CommandProcess {
    /// The command's time limit, and when its lease is renewed.
    struct Schedule {
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
        var status: CommandStatus
        var isTimedOut = false
        var controlC = ControlC.none
    }

    /// Whether Ctrl-C on the terminal has ended the command, and whom it has reached.
    enum ControlC {
        case none
        case reachedThisProcess
        /// The command's group had the terminal's foreground, so no other process got the signal.
        case reachedCommandOnly
    }

    private enum Group {
        case own
        case shared
    }

    /// The time between the signal that asks the command to end and the one that ends it.
    static let grace = Duration.seconds(5)

    private let pid: pid_t
    private let group: Group
    /// The terminal whose foreground the command's group may get; negative for none.
    private let terminal: Int32
    private var hasForeground: Bool
    private var isInterruptedByTerminal = false

    /// Runs a command to its end.
    ///
    /// - Parameter arguments: the program and its arguments.
    static func run(_ arguments: [String], _ schedule: Schedule) -> Result {
        let terminal = bc_open_terminal()
        defer { if terminal >= 0 { close(terminal) } }
        let isForeground = terminal >= 0 && bc_is_foreground(terminal) != 0
        let isInteractive = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0
        let group: Group = isForeground && !isInteractive && schedule.timeout == nil ? .shared : .own
        let givesForeground = isForeground && isInteractive
        var error: Int32 = 0
        // The texts live for the whole call, and the child has executed the program before it returns.
        let pid = unsafe arguments.withCStrings { words -> pid_t in
            var command = unsafe bc_command()
            unsafe command.words = words
            unsafe command.has_own_group = group == .own ? 1 : 0
            unsafe command.terminal = givesForeground ? terminal : -1
            unsafe command.adopts_orphans = schedule.timeout == nil ? 0 : 1
            return unsafe bc_start(&command, &error)
        }
        if pid < 0 { return Result(status: .notExecuted(.noProcess)) }
        var process = CommandProcess(
            pid: pid, group: group, terminal: group == .own ? terminal : -1,
            hasForeground: givesForeground)
        defer { process.reclaimForeground() }
        guard pid > 0 else {
            return Result(status: .notExecuted(error == ENOENT ? .noSuchCommand : .notExecutable))
        }
        return process.wait(schedule)
    }

    // MARK: - Waiting

    private mutating func wait(_ schedule: Schedule) -> Result {
        var isTimedOut = false
        /// When the next signal to the whole group is due.
        var nextKill = schedule.timeout.map { schedule.uptime() + $0 }
        var renewal = schedule.firstRenewal
        while true {
            self.passSignals()
            var number: Int32 = 0
            switch unsafe bc_check_command(self.pid, &number) {
            case bc_exited:
                if isTimedOut { self.waitForGroup(nextKill: nextKill, schedule) }
                return Result(status: .exited(number), isTimedOut: isTimedOut)
            case bc_killed:
                if isTimedOut { self.waitForGroup(nextKill: nextKill, schedule) }
                let isByControlC = number == SIGINT && !isTimedOut
                return Result(
                    status: .killed(signal: number), isTimedOut: isTimedOut,
                    controlC: isByControlC ? self.controlC : .none)
            case bc_stopped: self.stopAlong(with: number)
            default: break
            }
            let now = schedule.uptime()
            if let due = nextKill, now >= due {
                if isTimedOut {
                    self.send(SIGKILL)
                    nextKill = nil
                } else {
                    isTimedOut = true
                    self.send(SIGTERM)
                    // A stopped process gets a signal only once it goes on.
                    self.send(SIGCONT)
                    nextKill = now + Self.grace
                }
            }
            if let due = renewal, now >= due { renewal = schedule.renew().map { schedule.uptime() + $0 } }
            self.sleep(until: [nextKill, renewal].compactMap(\.self).min(), at: schedule.uptime())
        }
    }

    private func sleep(until time: Duration?, at now: Duration) {
        guard let time else { return bc_wait_for_signal(-1) }
        // Rounded up, so that it is due when the wait is over.
        let milliseconds = ((time - now) / .milliseconds(1)).rounded(.up)
        bc_wait_for_signal(Int32(min(max(milliseconds, 0), 1_000_000)))
    }

    /// Waits until all processes of the command's own group have ended; kills those that are left when that is due.
    private func waitForGroup(nextKill: Duration?, _ schedule: Schedule) {
        // The kernel ends a killed process soon, unless it waits for a disk.
        var (due, isKilled) = (nextKill ?? schedule.uptime(), false)
        while bc_reap_group(self.pid) != 0 {
            let now = schedule.uptime()
            if now >= due {
                if isKilled { break }
                kill(-self.pid, SIGKILL)
                (due, isKilled) = (now + Self.grace, true)
            }
            self.sleep(until: min(due, now + .milliseconds(50)), at: now)
            self.dropSignals()
        }
    }

    /// Whom the terminal's Ctrl-C has reached, if the command was ended by SIGINT.
    private var controlC: ControlC {
        if self.hasForeground { return .reachedCommandOnly }
        return self.isInterruptedByTerminal ? .reachedThisProcess : .none
    }

    // MARK: - Signals

    private func send(_ signal: Int32) {
        switch self.group {
        case .own: kill(-self.pid, signal)
        // The group has other programs' processes.
        case .shared: kill(self.pid, signal)
        }
    }

    /// Passes on the signals that have come; returns whether SIGCONT was one of them, as after a stop.
    @discardableResult
    private mutating func passSignals() -> Bool {
        var wasContinued = false
        var isOfTerminal: Int32 = 0
        while true {
            let signal = unsafe bc_read_signal(&isOfTerminal)
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

    /// The command has ended: nobody is left to pass them on to.
    private func dropSignals() {
        var isOfTerminal: Int32 = 0
        while unsafe bc_read_signal(&isOfTerminal) != 0 {}
    }

    // MARK: - The terminal

    /// The command was stopped: stops this process's group, too, so that the shell notices; then both go on.
    ///
    /// A command that was stopped because it used the terminal from the background gets the foreground, if this group
    /// has it by now: the shell's `fg` gives it to this group alone.
    private mutating func stopAlong(with signal: Int32) {
        // Without a terminal no shell has to notice, and in a shared group the terminal has stopped both.
        guard self.terminal >= 0 else { return }
        let wantsTerminal = signal == SIGTTIN || signal == SIGTTOU
        if !wantsTerminal || bc_is_foreground(self.terminal) == 0 {
            self.reclaimForeground()
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

    private mutating func reclaimForeground() {
        guard self.hasForeground else { return }
        bc_give_foreground(self.terminal, getpgrp())
        self.hasForeground = false
    }
}
