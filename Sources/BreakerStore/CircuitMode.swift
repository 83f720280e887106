/// Whether a circuit refuses calls.
///
/// An observing circuit decides, makes events and counts as an enforcing circuit does, but lets every call through,
/// unless an operator holds it open.
public enum CircuitMode: String, Sendable, Hashable, Codable {
    /// The circuit refuses calls while it is open.
    case enforcing
    /// The circuit trips and makes events, but refuses calls only while an operator holds it open.
    case observing
}
