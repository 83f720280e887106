/// How an operator holds a circuit.
public enum HoldState: String, Sendable, Hashable, Codable {
    /// All calls are refused.
    case open
    /// All calls are let through, and no rule counts them.
    case closed
}
