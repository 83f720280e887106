/// A circuit's name as a key: compares bytes, as SQLite does, while for `String` two encodings of `é` are equal.
package struct CircuitName: Hashable, Sendable {
    /// How many Unicode scalars a name may have.
    package static let lengths = 1...200

    let text: String

    init(_ text: String) { self.text = text }

    package static func == (left: CircuitName, right: CircuitName) -> Bool {
        var (one, other) = (left.text, right.text)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                unsafe one.elementsEqual(other)
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
