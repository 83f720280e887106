/// Why a circuit refused a call.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RefusalCause: String, Sendable, Hashable, Codable {
    /// The circuit is open, and its time has not come.
    case open
    /// The circuit is half-open, and all slots are taken.
    case probing
    /// An operator holds the circuit open.
    case held
}
