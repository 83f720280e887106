/// An entry for the history that no call has caused: it is about the store, or about one circuit.
struct StoreNote: Sendable {
    /// Nil: the store itself.
    var circuit: String?
    var transition: Transition
}
