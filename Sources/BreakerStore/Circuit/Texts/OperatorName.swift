/// The names of operators in the history.
enum OperatorName {
    /// The name of the links that join hosts.
    static let fleet = "fleet"

    /// Whether an event's operator is a link.
    static func isOfFleet(_ who: String) -> Bool { who == self.fleet || who.hasPrefix("\(self.fleet): ") }

    /// A person's name as it is stored: in quotes if it reads like a link's name.
    ///
    /// A link treats a command under a link's name as one of another host, and would not send it on.
    static func ofPerson(_ who: String) -> String { self.isOfFleet(who) ? "'\(who)'" : who }
}
