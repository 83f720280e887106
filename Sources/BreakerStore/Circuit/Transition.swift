/// An event of a circuit, as the history records it.
struct Transition: Hashable, Sendable {
    var kind: CircuitEvent.Kind
    var from: String?
    var to: String?
    var reason: String?
    /// The owner of the slot or the hold.
    var subject: String?
    /// Whether the passing of time alone caused it.
    ///
    /// Then the history names no operator, even if an operator's order came upon the event.
    var isOfItself = false
}

extension CircuitEvent.Kind {
    /// Whether calls get other answers from this event on.
    ///
    /// A claimed probe changes nothing that matters: after a power loss the circuit is open and due.
    var mustSurvivePowerLoss: Bool {
        [.tripped, .reopened, .closed, .reset, .held, .released, .probeAllowed, .forgotten, .stateRestored].contains(
            self)
    }
}
