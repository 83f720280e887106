/// How one call ended, for metrics.
public struct CallOutcome: Sendable {
    /// What became of a call.
    public enum Result: Sendable, Hashable {
        /// It ran and counts as a success.
        case succeeded
        /// It ran and counts as a failure.
        case failed
        /// It ran and counts as neither.
        case ignored
        /// The circuit refused; it did not run.
        case refused
    }

    /// The circuit's name.
    public var circuit: String

    /// What became of the call.
    public var result: Result

    /// How long the operation took; zero when it was refused.
    public var duration: Duration

    package init(circuit: String, result: Result, duration: Duration) {
        self.circuit = circuit
        self.result = result
        self.duration = duration
    }
}
