/// What the tool ends with: a contract with scripts.
enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case declined = 2
    case notClosed = 3
    case noSuchCircuit = 4
    case usage = 64
    case busy = 75
    case timedOut = 124
    case interrupted = 130

    /// The meaning, as the help tells it.
    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .declined: "you said no"
        case .notClosed: "check: some circuit is not closed"
        case .noSuchCircuit: "no such circuit"
        case .usage: "wrong command line"
        case .busy: "the store is busy"
        case .timedOut: "wait: the time was over"
        case .interrupted: "interrupted"
        }
    }
}
