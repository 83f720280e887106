/// One thing that happened to a circuit, as the history tells it.
struct Transition: Hashable, Sendable {
    var kind: CircuitEvent.Kind
    var from: String?
    var to: String?
    var reason: String?
    /// Whose slot or whose hold it was.
    var subject: String?
    /// Whether the passing of time alone caused it.
    ///
    /// Then the history names no operator, even if an operator's change came upon it.
    var isOfItself = false
}

extension CircuitEvent.Kind {
    /// Whether calls are answered otherwise from now on.
    ///
    /// A claimed probe changes nothing that matters: after a power loss the circuit is open, and its time has come.
    var mustSurvivePowerLoss: Bool {
        [.tripped, .reopened, .closed, .reset, .held, .released, .probeAllowed, .forgotten].contains(self)
    }
}
