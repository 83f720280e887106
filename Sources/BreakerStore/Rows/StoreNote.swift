/// What happened to the store itself, or to a circuit of it by no call of anybody, for the history.
struct StoreNote: Sendable {
    /// Nil: the store itself.
    var circuit: String?
    var transition: Transition
}
