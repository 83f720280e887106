/// The text of a statement that each connection prepares once: a literal, or a text composed once per process.
struct SQL: ExpressibleByStringLiteral, Sendable {
    /// An address, which no other statement's text has.
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

    /// Makes a statement of a composed text; must be stored in a `static let`, since each value is another statement.
    init(composed text: String) {
        let composed = Composed(text)
        self.key = UInt(bitPattern: ObjectIdentifier(composed))
        self.literal = ""
        self.composed = composed
    }

    var text: String { self.composed?.text ?? "\(self.literal)" }
}
