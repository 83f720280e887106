package import BreakerStore

/// How a circuit stands among others: its state, and whether it refuses nothing, whatever its state is.
package struct Standing: Hashable, Sendable {
    package let word: StateWord
    /// Whether it only observes; one that an operator holds does what the operator says.
    package let isObserving: Bool

    package init(_ state: CircuitState, _ mode: CircuitMode) {
        self.word = StateWord(state)
        self.isObserving =
            switch state {
            case .closed, .open, .halfOpen: mode == .observing
            case .held: false
            }
    }

    /// Whether it refuses nothing and would refuse calls if it enforced.
    package var wouldRefuse: Bool { self.isObserving && self.word != .closed }

    /// So many values there are of `urgency`.
    package static let urgencies = 6
    /// That of all that would refuse calls.
    package static let urgencyOfObserving: UInt8 = 3

    /// The lower, the sooner somebody should look.
    package var urgency: UInt8 { self.wouldRefuse ? Self.urgencyOfObserving : self.word.urgency }

    /// For people, such as `open (observing)`.
    package var text: String { self.isObserving ? "\(self.word.rawValue) (observing)" : self.word.rawValue }
}
