/// A circuit's name as a key: the same bytes, as SQLite compares them, where `String` takes two spellings of `é` for
/// one.
struct CircuitName: Hashable, Sendable {
    /// How many Unicode scalars a name has.
    static let lengths = 1...200

    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: CircuitName, right: CircuitName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in self.text.utf8 { hasher.combine(byte) }
        hasher.combine(0xff as UInt8)
    }
}
