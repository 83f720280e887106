/// The operation took longer than its policy's timeout; the library cancelled it, and it counts as a failure.
public struct CallTimeoutError: Error, Sendable, CustomStringConvertible {
    /// The circuit's name.
    public var name: String
    /// The time that the operation had.
    public var timeout: Duration

    /// Creates an error for tests.
    public init(name: String, timeout: Duration) {
        self.name = name
        self.timeout = timeout
    }

    /// One sentence: the circuit and the timeout.
    public var description: String {
        "a call of circuit \(self.name.quoted) took longer than \(self.timeout.readable) and was cancelled"
    }
}
