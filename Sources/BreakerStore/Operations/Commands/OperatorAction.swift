#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An action of an operator on a circuit's state.
package enum OperatorAction: Sendable, Hashable {
    case reset
    case hold(HoldState, for: Duration?)
    case release
    case probe

    /// Decides whether an action may end a circuit's hold, by the circuit's name and the operator of the hold.
    package typealias HoldCheck = @Sendable (_ circuit: String, _ by: String?) -> Bool

    /// The command by which links pass this action on to other hosts.
    func command(by who: String?, reason: String?) -> OperatorCommand {
        switch self {
        case .hold(let state, let duration):
            OperatorCommand(
                kind: .hold, hold: state, holdFor: duration?.saturatingMicroseconds, by: who, reason: reason)
        case .release: OperatorCommand(kind: .hold, by: who, reason: reason)
        case .reset: OperatorCommand(kind: .reset, by: who, reason: reason)
        case .probe: OperatorCommand(kind: .probe, by: who, reason: reason)
        }
    }
}

/// The effect of an operator's action on one circuit, in the words of the history.
package struct StateChange: Sendable, Hashable {
    /// The word for the state of a deleted circuit.
    package static let forgotten = "forgotten"
    /// The word for the state of a circuit whose row can't be read.
    package static let unreadable = "unreadable"

    package var name: String
    package var from: String
    package var to: String
    /// When the circuit's new hold ends; nil without a new hold, and for a hold that lasts until it is released.
    package var holdEnd: Date?

    package init(name: String, from: String, to: String, holdEnd: Date? = nil) {
        self.name = name
        self.from = from
        self.to = to
        self.holdEnd = holdEnd
    }
}
