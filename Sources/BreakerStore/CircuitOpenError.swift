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
    /// The same in whole seconds, rounded up, as the header `Retry-After` takes them; nil if unknown.
    public var retryAfterSeconds: Int? {
        self.retryAfter.map {
            let (seconds, attoseconds) = $0.components
            return Int(clamping: max(0, seconds.addingSaturating(attoseconds > 0 ? 1 : 0)))
        }
    }
    /// The stored text of the newest failure's error; nil if an operator's hold refuses, whatever failed before.
    public var lastError: String?
    /// Who holds the circuit open, why, and until when; nil for another cause, and if the hold has ended just now.
    public var hold: CircuitSnapshot.Hold? {
        get { self.boxedHold?.value }
        set { self.boxedHold = newValue.map { .value($0) } }
    }
    /// The hold as all refusals by it share it, so that a refusal allocates nothing for it.
    var boxedHold: Boxed<CircuitSnapshot.Hold>?

    /// Creates a refusal for tests.
    public init(
        name: String, group: String? = nil, cause: RefusalCause = .open, retryAfter: Duration? = nil,
        lastError: String? = nil, hold: CircuitSnapshot.Hold? = nil
    ) {
        self.name = name
        self.group = group
        self.cause = cause
        self.retryAfter = retryAfter
        self.lastError = lastError
        self.hold = hold
    }

    /// One sentence: the circuit, the cause, when to try again, and the last error or the operator's reason.
    public var description: String {
        var text = "the call was not made: circuit \(self.name.quoted)"
        if let group = self.group { text += " (group \(group.quoted))" }
        switch self.cause {
        case .open: text += " is open"
        case .probing: text += " is probing and lets no other call through"
        case .held:
            text += " is held open"
            if let hold = self.hold {
                if let by = hold.by { text += " by \(by.escaped)" }
                text += hold.until.map { " until \($0)" } ?? " until it is released"
            }
        }
        if let retryAfter = self.retryAfter {
            text += retryAfter > .zero ? ", retry after \(retryAfter.readable)" : ", retry now"
        }
        if self.cause == .held, let hold = self.hold {
            if let reason = hold.reason { text += "; reason: \(reason.escaped)" }
        } else if let lastError = self.lastError {
            text += "; last error: \(lastError.escaped)"
        }
        return text
    }
}
