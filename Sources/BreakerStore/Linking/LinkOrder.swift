/// What a link has the file do to a circuit: one transaction each, if the circuit's epoch is the one that was read.
package enum LinkOrder: Sendable, Hashable {
    /// Opens the circuit for so many microseconds from now: an event, a new epoch.
    ///
    /// An open circuit is opened anew, as after a failed probe. A hold stays over the state.
    case open(for: Int64, trips: Int)
    /// An open circuit stays open for so many microseconds from now: no event, and the epoch stays.
    case extend(for: Int64)
    /// Closes the circuit and forgets its failures; a hold stays.
    case close
    /// As an operator of another host did.
    case reset
    case hold(HoldState, for: Int64?)
    case release
    /// An open circuit lets its probes through from now on: no event, but a new epoch.
    case probe

    /// The operator whom the history names for what links did.
    package static let fleet = OperatorName.fleet

    /// The operator whom the history names for what a person on another host did.
    package static func fleet(for who: String?) -> String { who.map { "\(self.fleet): \($0)" } ?? self.fleet }

    /// Whether an event's operator says that a link made the event.
    package static func isOfFleet(_ who: String?) -> Bool {
        who.map { OperatorName.isOfFleet($0) } ?? false
    }
}
