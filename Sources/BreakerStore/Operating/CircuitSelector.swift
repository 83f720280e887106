/// How an operator names circuits.
package enum CircuitSelector: Sendable, Hashable {
    /// The circuit of this name, which must be there.
    case named(String)
    /// The circuit of this name, if it is still there.
    case namedIfPresent(String)
    /// All circuits whose names match an SQLite GLOB pattern.
    case pattern(String)
    /// The circuit of this name; if there is none, all circuits that match the text, if it can be a pattern.
    case nameOrPattern(String)

    /// How many bytes a pattern has at most.
    package static var longestPattern: Int { Validation.longestPattern }

    /// Whether a text has one of the characters by which a pattern is recognised.
    package static func isPattern(_ text: String) -> Bool { text.utf8.contains { "*?[".utf8.contains($0) } }

    /// A pattern that matches this name alone.
    package static func pattern(matchingOnly name: String) -> String {
        name.unicodeScalars.reduce(into: "") { $0 += "*?[".unicodeScalars.contains($1) ? "[\($1)]" : String($1) }
    }
}
