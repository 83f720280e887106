/// Makes the texts of errors and values that the store keeps, for people who read about the circuit later.
enum StoredText {
    private static let mostCharacters = 500
    private static let mostBytes = 4_000

    /// Cuts a text to 500 characters and 4,000 bytes: one character may have megabytes of combining marks.
    static func cut(_ text: String) -> String {
        let text = text.prefix(Self.mostCharacters)
        guard text.utf8.count > Self.mostBytes else { return String(text) }
        return String(decoding: text.utf8.prefix(Self.mostBytes), as: UTF8.self)
    }

    /// A value's description; of a collection only type and count: a whole text would be built only to be cut.
    static func of<T>(_ value: T) -> String {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .collection, .dictionary, .set:
            let count = mirror.children.count
            return "\(TypeNames.name(of: type(of: value))) of \(count) \(count == 1 ? "element" : "elements")"
        default:
            return Self.cut(String(describing: value))
        }
    }
}
