/// What the tool ends with: a contract with scripts.
enum ExitCode: Int32, Sendable {
    case done = 0
    case failed = 1
    /// The operator said no.
    case declined = 2
    /// `check`: some circuit is not closed.
    case notClosed = 3
    case noSuchCircuit = 4
    /// The command line is wrong.
    case usage = 64
    /// Others kept the store locked.
    case busy = 75
    /// `wait`: the time was over.
    case timedOut = 124
    case interrupted = 130
}
