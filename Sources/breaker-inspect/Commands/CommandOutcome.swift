import BreakerStore
import BreakerTool

/// What the end of a command means for its circuit, and with which code `run` ends.
struct CommandOutcome: Hashable, Sendable {
    var verdict: Verdict
    /// The text that is stored for a failure.
    ///
    /// Every process of the host can read it, so it contains nothing of the command line.
    var error: String
    var code: ExitCode

    /// Decides by the command's end alone.
    ///
    /// - Parameters:
    ///   - status: how the command ended.
    ///   - timeout: the time limit; nil if the command ended within it.
    ///   - ignored: exit codes that say nothing about the provider.
    init(_ status: CommandStatus, timedOutAfter timeout: Duration? = nil, ignoring ignored: ExitCodeSet) {
        switch status {
        case .exited(let number):
            self.error = "exit code \(number)"
            self.code = ExitCode(rawValue: number)
            let isIgnored = Self.alwaysIgnored.contains(number) || ignored.contains(number)
            self.verdict = number == 0 ? .success : isIgnored ? .ignored : .failure
        case .killed(let signal):
            self.error = "killed by signal \(signal)"
            self.code = ExitCode(rawValue: 128 + signal)
            self.verdict = signal == Self.interrupt ? .ignored : .failure
        case .notExecuted(let reason):
            switch reason {
            case .noSuchCommand: (self.error, self.code) = ("no such command", .noSuchCommand)
            case .notExecutable: (self.error, self.code) = ("the command could not be executed", .notExecutable)
            case .noProcess: (self.error, self.code) = ("no process could be made for the command", .notExecutable)
            }
            self.verdict = .ignored
        }
        if let timeout {
            self.error = "took longer than \(timeout.readable)"
            self.code = .timedOut
            self.verdict = .failure
        }
    }

    /// What shells end with if there is no such command, it can't be executed, or Ctrl-C has ended it.
    private static let alwaysIgnored: Set<Int32> = [126, 127, 130]
    private static let interrupt: Int32 = 2
}
