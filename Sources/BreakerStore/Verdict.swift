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
}
