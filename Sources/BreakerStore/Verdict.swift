/// What the end of an operation means for its circuit.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Verdict: Sendable, Hashable {
    /// It counts towards a trip; a probe opens the circuit again.
    case failure
    /// It counts as a success, though an error was thrown.
    case success
    /// It says nothing about the service: nothing is counted, a probe's slot is free again.
    case ignored
    /// The service has said that it is down: the circuit opens at once, for so long, or as its rule says for nil.
    ///
    /// The time is cut to the recovery rule's cap, which never shortens the rule's own time; at zero or less the next
    /// call is a probe. A probe's circuit opens again for that time. Where `minimumReporters` asks for more workers
    /// than have seen failures, this counts as an ordinary failure.
    case outage(for: Duration?)
}

extension Verdict {
    /// Whether the call counts as failed.
    var isFailure: Bool {
        switch self {
        case .failure, .outage: true
        case .success, .ignored: false
        }
    }
}
