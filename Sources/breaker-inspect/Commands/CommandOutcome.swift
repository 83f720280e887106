import BreakerStore
import BreakerTool

/// How a command ended.
enum CommandEnd: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// The program could not be executed: `isMissing` if there is none of this name.
    case notExecuted(isMissing: Bool)
}

/// What the end of a command means for its circuit, and with which code `run` ends: a pure function.
struct CommandOutcome: Hashable, Sendable {
    var verdict: Verdict
    /// The text that is stored for a failure.
    ///
    /// Every process of the host can read it, so it has no word of the command.
    var error: String
    var code: ExitCode

    /// - Parameters:
    ///   - end: how the command ended.
    ///   - timeout: the time limit; nil if the command ended within it.
    ///   - ignored: exit codes that say nothing about the service.
    ///   - outage: the outage that the command has declared; nil without one.
    init(_ end: CommandEnd, timedOutAfter timeout: Duration? = nil, ignoring ignored: ExitCodeSet, outage: Verdict?) {
        switch end {
        case .exited(let number):
            self.error = "exit code \(number)"
            self.code = ExitCode(rawValue: number)
            let isIgnored = Self.alwaysIgnored.contains(number) || ignored.contains(number)
            self.verdict = number == 0 ? .success : isIgnored ? .ignored : outage ?? .failure
        case .killed(let signal):
            self.error = "killed by signal \(signal)"
            self.code = ExitCode(rawValue: 128 + signal)
            self.verdict = signal == Self.interrupt ? .ignored : outage ?? .failure
        case .notExecuted(let isMissing):
            self.error = isMissing ? "no such command" : "the command could not be executed"
            self.code = isMissing ? .noSuchCommand : .notExecutable
            self.verdict = .ignored
        }
        if let timeout {
            self.error = "took longer than \(timeout.readable)"
            self.code = .timedOut
            self.verdict = outage ?? .failure
        }
    }

    /// What shells end with if there is no such command, it can't be executed, or Ctrl-C has ended it.
    private static let alwaysIgnored: Set<Int32> = [126, 127, 130]
    private static let interrupt: Int32 = 2
}

/// Some exit codes, as `--ignore` takes them: numbers and ranges with commas between them, such as `1,64-78`.
struct ExitCodeSet: Hashable, Sendable {
    private var ranges: [ClosedRange<Int32>] = []

    init() {}

    init(_ text: String, of option: Option) throws(Failure) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { Self.code($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
                throw .usage(
                    "option '\(option.spelling)' takes exit codes, not \(text.quoted)",
                    hint: "write numbers from 1 to 255, and ranges, with commas between them, such as 1,64-78")
            }
            self.ranges.append(first...last)
        }
    }

    func contains(_ code: Int32) -> Bool { self.ranges.contains { $0.contains(code) } }

    private static func code(_ digits: Substring) -> Int32? {
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int32(digits), (1...255).contains(number)
        else { return nil }
        return number
    }
}
