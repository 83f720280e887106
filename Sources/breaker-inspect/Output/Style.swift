import BreakerStoreJSON

/// When the output is coloured.
enum ColorChoice: String, CaseIterable, Sendable {
    case auto
    case always
    case never

    func isOn(onTerminal: Bool, environment: Environment) -> Bool {
        switch self {
        case .always: true
        case .never: false
        // https://no-color.org: any value but an empty one.
        case .auto: onTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}

/// The look of a piece of text; it never says what the text does not.
enum Look: String, Sendable {
    case plain = ""
    case heading = "1"
    case bad = "1;31"
    case doubtful = "33"
    case good = "32"
    case overridden = "35"
}

/// Paints text, or leaves it as it is.
struct Style: Sendable {
    var isColored: Bool

    func paint(_ text: String, _ look: Look) -> String {
        guard self.isColored, look != .plain, !text.isEmpty else { return text }
        return "\u{1B}[\(look.rawValue)m\(text)\u{1B}[0m"
    }
}

extension Standing {
    /// One that refuses nothing is never shown as one that does.
    var look: Look { self.wouldRefuse ? .doubtful : self.word.look }
}

extension StateWord {
    var look: Look {
        switch self {
        case .open, .heldOpen: .bad
        case .halfOpen: .doubtful
        case .heldClosed: .overridden
        case .closed: .good
        }
    }
}
