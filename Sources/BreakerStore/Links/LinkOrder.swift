/// A change that a link makes to a circuit: one transaction, if the circuit still has the epoch that the link read.
package enum LinkOrder: Sendable, Hashable {
    /// Opens the circuit for this many microseconds from now, with an event and a new epoch.
    ///
    /// An open circuit opens again, as after a failed probe. A hold stays in force.
    case open(for: Int64, trips: Int)
    /// Keeps an open circuit open for this many microseconds from now, without an event, and in the same epoch.
    case extend(for: Int64)
    /// Closes the circuit and forgets its failures; a hold stays.
    case close
    /// Applies an operator's command from another host.
    ///
    /// `keepsTrip`: the command is a reset, and the circuit has opened since the operator gave it. `serverTime` is the
    /// server's current time, by which damaged stamps of the file's own commands are recognised.
    case obey(OperatorCommand, keepsTrip: Bool, serverTime: Int64)
    /// Gives this host's commands their Lamport times, which order them among those of all hosts.
    ///
    /// The times come from the server's current time, but are later than `notBefore`: this host had obeyed what the
    /// server had then, so its own commands are later.
    case stamp(serverTime: Int64, notBefore: Int64)
    /// Makes an open circuit admit probes from now on, without an event, but with a new epoch.
    case probe

    /// The operator in the history for the orders of links.
    package static let fleet = OperatorName.fleet

    /// The operator in the history for the commands of a person on another host.
    package static func fleet(for who: String?) -> String { who.map { "\(self.fleet): \($0)" } ?? self.fleet }

    /// Whether an event's operator shows that a link made the event.
    package static func isOfFleet(_ who: String?) -> Bool {
        who.map { OperatorName.isOfFleet($0) } ?? false
    }
}
