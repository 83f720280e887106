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
    /// The provider has declared an outage: the circuit opens at once for this time, or for the recovery rule's time if
    /// nil.
    ///
    /// ``RecoveryRule/outageCap`` limits the time; at zero or less the next call is a probe. While the circuit is open
    /// already, the later end counts; if it is half-open, it opens again. It changes nothing while the circuit is held,
    /// or if the circuit was reset, or closed by its probes, after the call had ended. One worker is believed, whatever
    /// `minimumReporters` says. To read the time from a response, see ``outage(retryAfter:date:)`` and
    /// ``outage(rateLimitReset:)``.
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
