/// Limits the length of the texts of errors that the store keeps for people.
enum StoredText {
    private static let maxCharacters = 500
    private static let maxBytes = 4_000

    /// Cuts a text to 500 characters and 4,000 bytes: one character may have megabytes of combining marks.
    static func cut(_ text: String) -> String {
        let text = text.prefix(Self.maxCharacters)
        guard text.utf8.count > Self.maxBytes else { return String(text) }
        return String(decoding: text.utf8.prefix(Self.maxBytes), as: UTF8.self)
    }
}
