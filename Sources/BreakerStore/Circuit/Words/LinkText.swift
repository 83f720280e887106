/// Keeps the texts short that pass from the file to a link, or from a link to the file.
enum LinkText {
    private static let mostCharacters = 1_000

    /// At most 1,000 characters, counted as SQLite does: Unicode scalars.
    static func cut(_ text: String) -> String {
        // A character has at least one byte.
        guard text.utf8.count > Self.mostCharacters else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.mostCharacters)))
    }
}
