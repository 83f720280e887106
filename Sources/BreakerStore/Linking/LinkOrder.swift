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
    /// What a person has said on another host; `leavesTrip` if the circuit has opened after a reset was said.
    case obey(LinkWord, leavesTrip: Bool)
    /// What was said on this host gets its place among the words of all hosts, by the server's time as it is now.
    ///
    /// The words were said after the host had obeyed what the server had by the time `notBefore`.
    case stamp(serverTime: Int64, notBefore: Int64)
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
