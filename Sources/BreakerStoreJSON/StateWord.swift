package import BreakerStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A circuit's state as a word, the same in tables, JSON and history; the most urgent first.
package enum StateWord: String, CaseIterable, Sendable, Comparable {
    case open
    case heldOpen = "held-open"
    case halfOpen = "half-open"
    case heldClosed = "held-closed"
    case closed

    package init(_ state: CircuitState) {
        switch state {
        case .closed: self = .closed
        case .open: self = .open
        case .halfOpen: self = .halfOpen
        case .held(.open, until: _): self = .heldOpen
        case .held(.closed, until: _): self = .heldClosed
        }
    }

    /// The urgency; the lower, the sooner an operator should act.
    package var urgency: UInt8 {
        switch self {
        case .open: 0
        case .heldOpen: 1
        case .halfOpen: 2
        // Circuits that are due have 3, and those that only observe and would refuse calls have 4: see `Standing`.
        case .heldClosed: 5
        case .closed: 6
        }
    }

    package static func < (first: StateWord, second: StateWord) -> Bool { first.urgency < second.urgency }
}

extension CircuitSnapshot {
    /// The state that calls would meet without a hold.
    package var unheldState: CircuitState { self.beneath ?? self.state }

    package var stateWord: StateWord { StateWord(self.state) }

    package var standing: Standing { Standing(self.state, self.config.mode, isDue: self.isDue) }

    /// When the circuit will admit calls again, if that is known.
    package var retryAt: Date? {
        switch self.state {
        case .open(let until): until
        case .held(.open, let until): until
        case .closed, .halfOpen, .held(.closed, _): nil
        }
    }

    /// How many failures trip the circuit; nil under a failure-rate rule, or a rule of a later release.
    package var failureLimit: Int? { self.config.trip.count }
}
