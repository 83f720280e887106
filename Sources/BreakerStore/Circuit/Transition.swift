/// An event of a circuit, as the history records it.
struct Transition: Hashable, Sendable {
    var kind: CircuitEvent.Kind
    var from: String?
    var to: String?
    var reason: String?
    /// The owner of the slot or the hold.
    var subject: String?
    /// Whether time alone caused it.
    ///
    /// Then the history names no operator, even if an operator's command was what recorded the event.
    var isOfItself = false
}

extension CircuitEvent.Kind {
    /// Whether calls are decided differently from this event on.
    ///
    /// A claimed probe may be lost: after a power loss the circuit is open and due, and another probe is claimed.
    var mustSurvivePowerLoss: Bool {
        [.tripped, .extended, .reopened, .closed, .reset, .held, .released, .probeAllowed, .forgotten, .stateRestored]
            .contains(self)
    }
}
