/// The circuit refused the call; the operation did not run.
public struct CircuitOpenError: Error, Sendable, CustomStringConvertible {
    /// The circuit's name.
    public var name: String
    /// The circuit's group.
    public var group: String?
    /// Why the circuit refused the call.
    public var cause: RefusalCause
    /// After how long a call may be let through; nil if unknown.
    public var retryAfter: Duration?
    /// The stored text of the newest failure's error.
    public var lastError: String?

    /// Creates a refusal for tests.
    public init(
        name: String, group: String? = nil, cause: RefusalCause = .open, retryAfter: Duration? = nil,
        lastError: String? = nil
    ) {
        self.name = name
        self.group = group
        self.cause = cause
        self.retryAfter = retryAfter
        self.lastError = lastError
    }

    /// One sentence: the circuit, the cause, when to try again, and the last error.
    public var description: String {
        var text = "the call was not made: circuit \(self.name.quoted)"
        if let group = self.group { text += " (group \(group.quoted))" }
        switch self.cause {
        case .open: text += " is open"
        case .probing: text += " is probing and lets no other call through"
        case .held: text += " is held open"
        }
        if let retryAfter = self.retryAfter {
            text += retryAfter > .zero ? ", retry after \(retryAfter.readable)" : ", retry now"
        }
        if let lastError = self.lastError { text += "; last error: \(lastError.escaped)" }
        return text
    }
}
