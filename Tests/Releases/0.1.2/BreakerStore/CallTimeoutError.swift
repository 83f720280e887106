/// The operation took longer than its policy's timeout; it was cancelled and counts as a failure.
public struct CallTimeoutError: Error, Sendable {
    /// The circuit's name.
    public var name: String
    /// The time that the operation had.
    public var timeout: Duration

    package init(name: String, timeout: Duration) {
        self.name = name
        self.timeout = timeout
    }
}
