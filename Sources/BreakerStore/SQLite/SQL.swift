/// The text of a statement that is prepared once: a literal, or one that was put together once for the whole process.
struct SQL: ExpressibleByStringLiteral, Sendable {
    /// The address of the text, which tells a statement from all others.
    let key: UInt
    private let literal: StaticString
    private let composed: Composed?

    private final class Composed: Sendable {
        let text: String
        /// The same for a file whose schema is older than 1.1, if the text is another one.
        let older: SQL?

        init(_ text: String, older: SQL?) {
            self.text = text
            self.older = older
        }
    }

    init(stringLiteral literal: StaticString) {
        self.key = unsafe UInt(bitPattern: literal.utf8Start)
        self.literal = literal
        self.composed = nil
    }

    /// To be kept in a `static let`: each value is another statement.
    ///
    /// - Parameter older: the same for a file whose schema is older than 1.1, which only readers meet: nobody has
    ///   written to the file since a program that knows 1.1 came to the host.
    init(composed text: String, older: String? = nil) {
        let composed = Composed(text, older: older.map { SQL(composed: $0) })
        self.key = UInt(bitPattern: ObjectIdentifier(composed))
        self.literal = ""
        self.composed = composed
    }

    var older: SQL? { self.composed?.older }

    var text: String { self.composed?.text ?? "\(self.literal)" }
}
