/// How an operator names circuits.
package enum CircuitSelector: Sendable, Hashable {
    /// The circuit of this name, which must be there.
    case named(String)
    /// The circuit of this name, if it is still there.
    case namedIfPresent(String)
    /// All circuits whose names match an SQLite GLOB pattern.
    case pattern(String)
    /// All circuits of this group.
    case group(String)
    /// The circuit of this name; if there is none and the text can be a pattern, all circuits that match the text.
    case nameOrPattern(String)

    /// The most bytes that a pattern may have.
    package static var longestPattern: Int { Validation.longestPattern }

    /// Whether a text has a character that makes it a pattern.
    package static func isPattern(_ text: String) -> Bool { text.utf8.contains { "*?[".utf8.contains($0) } }

    /// A pattern that matches this name alone.
    package static func pattern(matchingOnly name: String) -> String {
        name.unicodeScalars.reduce(into: "") { $0 += "*?[".unicodeScalars.contains($1) ? "[\($1)]" : String($1) }
    }
}
