/// A change that a link makes to a circuit: one transaction, if the circuit still has the epoch that the link read.
package enum LinkOrder: Sendable, Hashable {
    /// Opens the circuit for this many microseconds from now, with an event and a new epoch.
    ///
    /// An open circuit opens again, as after a failed probe. A hold stays over the state.
    case open(for: Int64, trips: Int)
    /// Keeps an open circuit open for this many microseconds from now, without an event, and in the same epoch.
    case extend(for: Int64)
    /// Closes the circuit and forgets its failures; a hold stays.
    case close
    /// Applies a word from another host; `leavesTrip` if the circuit has opened since a reset was said.
    ///
    /// By the server's present time, words of the file with damaged stamps are found.
    case obey(LinkWord, leavesTrip: Bool, serverTime: Int64)
    /// Stamps the words of this host with their place among those of all hosts, by the server's present time.
    ///
    /// This host had obeyed the words that the server had at `notBefore`, so its own words are later.
    case stamp(serverTime: Int64, notBefore: Int64)
    /// Makes an open circuit let its probes through from now on, without an event, but with a new epoch.
    case probe

    /// The operator in the history for the orders of links.
    package static let fleet = OperatorName.fleet

    /// The operator in the history for the words of a person on another host.
    package static func fleet(for who: String?) -> String { who.map { "\(self.fleet): \($0)" } ?? self.fleet }

    /// Whether an event's operator says that a link made the event.
    package static func isOfFleet(_ who: String?) -> Bool {
        who.map { OperatorName.isOfFleet($0) } ?? false
    }
}
