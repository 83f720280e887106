/// How one call ended, for metrics.
public struct CallOutcome: Sendable {
    /// What became of a call.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
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

    /// How long the operation took, without what the circuit did; zero where it was refused, or recorded without a
    /// permit.
    public var duration: Duration

    /// Creates an outcome, as a test may need one.
    public init(circuit: String, result: Result, duration: Duration = .zero) {
        self.circuit = circuit
        self.result = result
        self.duration = duration
    }
}
