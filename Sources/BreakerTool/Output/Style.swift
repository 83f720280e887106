/// Whether the output is coloured.
package enum ColorChoice: String, CaseIterable, Sendable {
    case auto
    case always
    case never

    package func isOn(onTerminal: Bool, environment: Environment) -> Bool {
        switch self {
        case .always: true
        case .never: false
        // https://no-color.org: any value but an empty one.
        case .auto: onTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}

/// The look of a text; it adds no information to the text.
package enum Look: String, Sendable {
    case plain = ""
    case heading = "1"
    case bad = "1;31"
    case doubtful = "33"
    case good = "32"
    case overridden = "35"
}

/// Paints text, or leaves it as it is.
package struct Style: Sendable {
    package var isColored: Bool

    package init(isColored: Bool) { self.isColored = isColored }

    package func paint(_ text: String, _ look: Look) -> String {
        guard self.isColored, look != .plain, !text.isEmpty else { return text }
        return "\u{1B}[\(look.rawValue)m\(text)\u{1B}[0m"
    }
}
