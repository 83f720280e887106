extension KillLoop {
    /// What a worker asks of a circuit.
    enum Verb: Int64 {
        case failure, success
        case admission, permitFailure, permitSuccess, permitDiscard
        case reset, holdOpen, holdClosed, release

        var isFailure: Bool { self == .failure || self == .permitFailure }
        var isSuccess: Bool { self == .success || self == .permitSuccess }

        /// Whether the file is written to in any state of the circuit.
        var isWritten: Bool {
            switch self {
            case .failure, .permitFailure, .reset, .holdOpen, .holdClosed, .release: true
            case .success, .permitSuccess, .admission, .permitDiscard: false
            }
        }
    }

    enum Outcome: Int64 {
        case done, refused, refusedAsProbing
    }

    /// One call of a worker, as its notes tell.
    struct Act {
        /// Which process, in the order of their starts, and the id under which the file knows it.
        var process: Int
        var worker: Int64
        var number: Int64
        var verb: Verb
        var circuit: Int
        /// The number of the permit's admission, or how long a hold lasts, in microseconds; 0 for ever.
        var detail: Int64
        /// By the uptime; the end is the process's where the call did not return.
        var start: Int64
        var end: Int64 = .max
        /// Whether it returned while the store was healthy.
        var isAcknowledged = false
        var outcome: Outcome?

        /// Whether it was written, and that acknowledged.
        var isCommit: Bool { self.isAcknowledged && self.outcome == .done && self.verb.isWritten }

        /// How the file knows it: as the error of a failure, or as the operator.
        var text: String { "\(self.process).\(self.number)" }
    }

    /// All that the processes of one file have done so far.
    struct Ledger {
        var acts: [Act] = []
        /// Whether a quarantine may stand in the history.
        var wasGarbled = false
    }

    /// The circuits of each file, all of them with rules that time does not touch.
    struct Rule {
        var failures: Int
        /// In microseconds.
        var recovery: Int64
        var probes: Int

        static let all = [
            // Never trips: all its failures can be counted.
            Rule(failures: 1_000_000, recovery: 1_000, probes: 1),
            Rule(failures: 3, recovery: 2_000, probes: 1),
            Rule(failures: 3, recovery: 2_000, probes: 1),
            Rule(failures: 2, recovery: 1_000, probes: 2),
            Rule(failures: 6, recovery: 20_000, probes: 1),
        ]

        static func name(_ circuit: Int) -> String { "circuit\(circuit)" }
    }
}
