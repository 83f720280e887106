/// The names of operators in the history.
enum OperatorName {
    /// The name of the links that join hosts.
    static let fleet = "fleet"

    /// Whether an event's operator is a link.
    static func isOfFleet(_ who: String) -> Bool { who == self.fleet || who.hasPrefix("\(self.fleet): ") }

    /// A person's name as it is kept: in quotes if it reads like a link's name.
    ///
    /// A link takes a word with a link's name for a word of another host, and would not pass the person's word on.
    static func ofPerson(_ who: String) -> String { self.isOfFleet(who) ? "'\(who)'" : who }
}
