/// Why a circuit refused a call.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RefusalCause: String, Sendable, Hashable, Codable {
    /// It is open, and its time has not come.
    case open
    /// It is half-open, and all probes are taken.
    case probing
    /// An operator holds it open.
    case held
}
