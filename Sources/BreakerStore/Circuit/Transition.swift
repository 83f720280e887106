/// An event of a circuit, as the history records it.
struct Transition: Hashable, Sendable {
    var kind: CircuitEvent.Kind
    var from: String?
    var to: String?
    var reason: String?
    /// The owner of the slot or the hold.
    var subject: String?
    /// How many of the failures that tripped the circuit were counted, in the totals of all calls, before the trip.
    var countedFailures: Int64 = 0
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

    /// Whether the event is a remark, which changes neither the state nor the hold.
    var isRemark: Bool { [.configured, .probeExpired, .proberDied].contains(self) }
}
