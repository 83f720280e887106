/// By which the history tells who did something.
enum OperatorName {
    /// The links that join hosts.
    static let fleet = "fleet"

    /// Whether an event's operator says that a link made the event.
    static func isOfFleet(_ who: String) -> Bool { who == self.fleet || who.hasPrefix("\(self.fleet): ") }

    /// A person's name as it is kept: one that reads like a link's stands in quotes, for a link would not tell others
    /// of what it takes for their word.
    static func ofPerson(_ who: String) -> String { self.isOfFleet(who) ? "'\(who)'" : who }
}
