import BreakerStore

/// The rules of the circuit, the same for the store and for the breakers in memory.
enum Rules {
    static let circuit = "users"
    static let maxFailures = 5
    static let window = Duration.seconds(60)
    static let recovery = Duration.seconds(6)
    /// For each trip in a row: after a failed probe the circuit stays open for a minute.
    static let multiplier = 10
    static let lease = Duration.seconds(30)

    /// How long a worker rests between two calls.
    static let pause = Duration.milliseconds(200)

    static var config: CircuitBreaker.Config {
        CircuitBreaker.Config(
            name: Self.circuit,
            trip: .failures(Self.maxFailures, within: Self.window),
            recovery: RecoveryRule(timeout: Self.recovery, multiplier: Double(Self.multiplier)),
            probes: ProbeRule(limit: 1, lease: Self.lease)
        )
    }
}
