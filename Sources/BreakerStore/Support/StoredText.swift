/// Cuts the texts that the store keeps of errors, for people who read about the circuit later.
enum StoredText {
    private static let mostCharacters = 500
    private static let mostBytes = 4_000

    /// Cuts a text to 500 characters and 4,000 bytes: one character may have megabytes of combining marks.
    static func cut(_ text: String) -> String {
        let text = text.prefix(Self.mostCharacters)
        guard text.utf8.count > Self.mostBytes else { return String(text) }
        return String(decoding: text.utf8.prefix(Self.mostBytes), as: UTF8.self)
    }
}
