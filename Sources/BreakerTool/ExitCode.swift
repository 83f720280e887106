/// The exit codes of the programs: a contract with scripts.
///
/// A number means the same in all programs. `Program.exitCodes` lists the codes that a program uses, and for what.
package enum ExitCode: Int32, Sendable {
    case done = 0
    case failed = 1
    case declined = 2
    case notClosed = 3
    case noSuchCircuit = 4
    case cutOff = 5
    case degraded = 6
    case usage = 64
    case busy = 75
    case timedOut = 124
    case interrupted = 130
}
