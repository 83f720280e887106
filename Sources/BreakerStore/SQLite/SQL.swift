/// The text of a statement that is prepared once: a literal, or one that was put together once for the whole process.
struct SQL: ExpressibleByStringLiteral, Sendable {
    /// An address, which tells a statement from all others.
    let key: UInt
    private let literal: StaticString
    private let composed: Composed?
    private let isOlder: Bool

    private final class Composed: Sendable {
        let text: String
        let older: (@Sendable () -> String)?

        init(_ text: String, _ older: (@Sendable () -> String)?) {
            self.text = text
            self.older = older
        }
    }

    init(stringLiteral literal: StaticString) {
        self.key = unsafe UInt(bitPattern: literal.utf8Start)
        self.literal = literal
        self.composed = nil
        self.isOlder = false
    }

    /// To be kept in a `static let`: each value is another statement.
    ///
    /// - Parameter older: the same for a file whose schema is older than 1.1, which only readers meet: nobody has
    ///   written to the file since a program that knows 1.1 came to the host. It is put together when it is needed.
    init(composed text: String, older: @autoclosure @escaping @Sendable () -> String) {
        self.init(Composed(text, older), isOlder: false)
    }

    init(composed text: String) { self.init(Composed(text, nil), isOlder: false) }

    private init(_ composed: Composed, isOlder: Bool) {
        // The older text has the next address: no object begins there.
        self.key = UInt(bitPattern: ObjectIdentifier(composed)) + (isOlder ? 1 : 0)
        self.literal = ""
        self.composed = composed
        self.isOlder = isOlder
    }

    /// Whether there is another text for a file whose schema is older than 1.1.
    var hasOlder: Bool { !self.isOlder && self.composed?.older != nil }

    /// The statement for such a file, if it is another one.
    var older: SQL? { self.hasOlder ? self.composed.map { SQL($0, isOlder: true) } : nil }

    var text: String {
        guard let composed = self.composed else { return "\(self.literal)" }
        guard self.isOlder, let older = composed.older else { return composed.text }
        return older()
    }
}
