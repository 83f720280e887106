/// The exit codes of the programs: a contract with scripts.
///
/// A number means the same in all programs. `Program.exitCodes` lists the codes that a program uses, and for what. A
/// struct, because `run` ends with the exit code of the command that it has run.
package struct ExitCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let done = ExitCode(rawValue: 0)
    package static let failed = ExitCode(rawValue: 1)
    package static let declined = ExitCode(rawValue: 2)
    package static let notClosed = ExitCode(rawValue: 3)
    package static let noSuchCircuit = ExitCode(rawValue: 4)
    package static let cutOff = ExitCode(rawValue: 5)
    package static let degraded = ExitCode(rawValue: 6)
    package static let usage = ExitCode(rawValue: 64)
    /// Not now: the store is busy, or a circuit refuses.
    package static let busy = ExitCode(rawValue: 75)
    package static let timedOut = ExitCode(rawValue: 124)
    package static let notExecutable = ExitCode(rawValue: 126)
    package static let noSuchCommand = ExitCode(rawValue: 127)
    package static let interrupted = ExitCode(rawValue: 130)
}
