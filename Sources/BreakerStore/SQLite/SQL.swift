/// The text of a statement that is prepared once: a literal, or one that was put together once for the whole process.
struct SQL: ExpressibleByStringLiteral, Sendable {
    /// An address, which tells a statement from all others.
    let key: UInt
    private let literal: StaticString
    private let composed: Composed?

    private final class Composed: Sendable {
        let text: String

        init(_ text: String) { self.text = text }
    }

    init(stringLiteral literal: StaticString) {
        self.key = unsafe UInt(bitPattern: literal.utf8Start)
        self.literal = literal
        self.composed = nil
    }

    /// To be kept in a `static let`: each value is another statement.
    init(composed text: String) {
        let composed = Composed(text)
        self.key = UInt(bitPattern: ObjectIdentifier(composed))
        self.literal = ""
        self.composed = composed
    }

    var text: String { self.composed?.text ?? "\(self.literal)" }
}
