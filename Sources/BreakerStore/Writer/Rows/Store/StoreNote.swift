/// An entry for the history that no call has caused.
struct StoreNote: Sendable {
    /// Nil for an entry about the store itself.
    var circuit: String?
    var transition: Transition
}
