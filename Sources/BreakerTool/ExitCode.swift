/// What the programs end with: a contract with scripts.
///
/// A number means the same in all of them; which of these a program uses, and for what, is in its tables.
package enum ExitCode: Int32, Sendable {
    case done = 0
    case failed = 1
    case declined = 2
    case notClosed = 3
    case noSuchCircuit = 4
    case cutOff = 5
    case usage = 64
    case busy = 75
    case timedOut = 124
    case interrupted = 130
}
