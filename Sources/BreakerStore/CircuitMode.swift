/// Whether a circuit refuses calls.
///
/// An observing circuit decides, tells and counts as an enforcing one does, and lets every call through, unless an
/// operator holds it open.
public enum CircuitMode: String, Sendable, Hashable, Codable {
    /// The circuit refuses calls while it is open.
    case enforcing
    /// The circuit trips and says so, but refuses calls only while an operator holds it open.
    case observing
}
