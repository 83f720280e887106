package import BreakerStore

/// A circuit's state, and whether the circuit only observes.
package struct Standing: Hashable, Sendable {
    package let word: StateWord
    /// Whether the circuit only observes, and so refuses no call; a held circuit obeys its hold in any mode.
    package let isObserving: Bool

    package init(_ state: CircuitState, _ mode: CircuitMode) {
        self.word = StateWord(state)
        self.isObserving =
            switch state {
            case .closed, .open, .halfOpen: mode == .observing
            case .held: false
            }
    }

    /// Whether the circuit refuses nothing, but would refuse calls if it enforced.
    package var wouldRefuse: Bool { self.isObserving && self.word != .closed }

    /// How many values `urgency` has.
    package static let urgencies = 6
    /// The urgency of all circuits that would refuse calls.
    package static let urgencyOfObserving: UInt8 = 3

    /// The urgency; the lower, the sooner an operator should act.
    package var urgency: UInt8 { self.wouldRefuse ? Self.urgencyOfObserving : self.word.urgency }

    /// A text for people, such as `open (observing)`.
    package var text: String { self.isObserving ? "\(self.word.rawValue) (observing)" : self.word.rawValue }
}
