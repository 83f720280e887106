/// What the outcome of an operation means for its circuit.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Verdict: Sendable, Hashable {
    /// The call counts towards a trip; a failed probe opens the circuit again.
    case failure
    /// The call counts as a success, though an error was thrown.
    case success
    /// The end says nothing about the service: no rule counts the call, and a probe's slot is free again.
    case ignored
    /// The service has said that it is down: the circuit opens at once for this time, or for the recovery rule's time
    /// if nil.
    ///
    /// The rule's cap limits the time, but never shortens the rule's own time; at zero or less the next call is a
    /// probe. A probe's outage opens the circuit again for that time. Where `minimumReporters` requires more workers
    /// than have seen failures, the outage counts as an ordinary failure.
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
