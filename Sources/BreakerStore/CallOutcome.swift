/// How one call ended, for metrics.
public struct CallOutcome: Sendable {
    /// How a call ended.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Result: Sendable, Hashable {
        /// The call ran and counts as a success.
        case succeeded
        /// The call ran and counts as a failure.
        case failed
        /// The call ran and counts as neither.
        case ignored
        /// The circuit refused the call, which did not run.
        case refused
    }

    /// The circuit's name.
    public var circuit: String

    /// How the call ended.
    public var result: Result

    /// How long the operation took, without the circuit's own work; zero for a call that was refused, or recorded
    /// without a permit.
    public var duration: Duration

    /// Creates an outcome for tests.
    public init(circuit: String, result: Result, duration: Duration = .zero) {
        self.circuit = circuit
        self.result = result
        self.duration = duration
    }
}
