package import BreakerStore

/// A circuit's state, and whether the circuit only observes.
package struct Standing: Hashable, Sendable {
    package let word: StateWord
    /// Whether the circuit only observes, and so refuses no call; a held circuit obeys its hold in any mode.
    package let isObserving: Bool
    /// Whether the circuit is open and its recovery time is over, so that it refuses nobody.
    package let isDue: Bool

    package init(_ state: CircuitState, _ mode: CircuitMode, isDue: Bool) {
        self.word = StateWord(state)
        self.isDue = isDue
        self.isObserving =
            switch state {
            case .closed, .open, .halfOpen: mode == .observing
            case .held: false
            }
    }

    /// Whether the circuit refuses nothing, but would refuse calls if it enforced.
    package var wouldRefuse: Bool { self.isObserving && self.word != .closed && !self.isDue }

    /// How many values `urgency` has.
    package static let urgencies = 7
    /// The urgency of all circuits that are due, also of those that only observe.
    package static let urgencyOfDue: UInt8 = 3
    /// The urgency of all circuits that would refuse calls.
    package static let urgencyOfObserving: UInt8 = 4

    /// The urgency; the lower, the sooner an operator should act.
    package var urgency: UInt8 {
        if self.isDue { return Self.urgencyOfDue }
        return self.wouldRefuse ? Self.urgencyOfObserving : self.word.urgency
    }

    /// The word for people of an open circuit that is due.
    package static let due = "due"

    /// A text for people, such as `open (observing)`, or `due`.
    package var text: String {
        let word = self.isDue ? Self.due : self.word.rawValue
        return self.isObserving ? "\(word) (observing)" : word
    }
}
