/// How an operator names circuits.
package enum CircuitSelector: Sendable, Hashable {
    /// The circuit of this name, which must be there.
    case named(String)
    /// The circuit of this name, if it is still there.
    case namedIfPresent(String)
    /// All circuits whose names match an SQLite GLOB pattern.
    case pattern(String)
    /// The circuit of this name; without one, what matches it if it can be a pattern.
    case nameOrPattern(String)

    /// How many bytes of a pattern SQLite takes, if it was not built otherwise
    /// (https://sqlite.org/limits.html, SQLITE_MAX_LIKE_PATTERN_LENGTH).
    package static let longestPattern = 50_000

    /// Whether a text holds what a pattern is told by.
    package static func isPattern(_ text: String) -> Bool { text.utf8.contains { "*?[".utf8.contains($0) } }
}
