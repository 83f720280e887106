/// Limits the length of texts that pass between the file and a link.
enum LinkText {
    private static let maxCharacters = 1_000

    /// At most 1,000 characters, counted as SQLite does: Unicode scalars.
    static func cut(_ text: String) -> String {
        // A character has at least one byte.
        guard text.utf8.count > Self.maxCharacters else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.maxCharacters)))
    }
}
