/// Converts rules to the text in the column `rules`, and back.
extension Rules {
    /// The text to store.
    var text: String {
        switch self.stored {
        case .asRules: RulesText.encode(self)
        case .more(let text): RulesText.encode(self, over: Array(text.utf8))
        case .ofLaterRelease(let text, why: _), .unreadable(let text, why: _): text
        }
    }

    init(storedText bytes: [UInt8]) {
        // Nothing is kept of a text that is not UTF-8.
        let text = String(validating: bytes, as: UTF8.self) ?? ""
        switch RulesText.decode(bytes) {
        case .understood(let rules, let unknown):
            self = rules
            if !unknown.isEmpty { self.stored = .more(text) }
        case .ofLaterRelease(let what):
            self = .standingIn(for: .ofLaterRelease(text, why: what), trip: Self.laterTrip(bytes) ?? what)
        case .unreadable(let why): self = .standingIn(for: .unreadable(text, why: why))
        }
    }

    /// Rules in place of a text that can't be used, for processes without a config of their own: they never trip.
    ///
    /// - Parameter word: what people see as the trip rule: the word of a later release's rule, or else what this
    ///   release can't use; empty if the text can't be read.
    static func standingIn(for stored: Stored, trip word: String = "") -> Rules {
        var rules = Rules.defaults
        rules.trip = TripRule(kind: .unknown(word))
        rules.stored = stored
        return rules
    }

    /// The word of a trip rule that this release does not know; nil if it knows the rule.
    private static func laterTrip(_ text: [UInt8]) -> String? {
        let members = (try? JSONScanner.value(of: text))?.members
        let trip = members?.first { $0.name == "trip" }?.value.members
        guard let word = trip?.first(where: { $0.name == "rule" })?.value.string else { return nil }
        return TripRule.Word(rawValue: word) == nil ? word : nil
    }
}
