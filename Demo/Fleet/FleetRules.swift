import BreakerStore

/// The rules of the circuit in the story of three hosts.
enum FleetRules {
    static let circuit = Rules.circuit
    /// A host alone has so many failures in 2.5 s, three hosts together in less than one: they need not hurry.
    static let maxFailures = 10
    /// Long enough for PostgreSQL to be killed and started again.
    static let recovery = Duration.seconds(10)
    static let multiplier = Rules.multiplier

    /// How long a worker rests between two calls, on average.
    static let pause = Duration.seconds(1)
    /// For how long beyond the fleet's end a host whose link is dead goes on refusing: longer than the story.
    static let guardTime = Duration.seconds(120)

    static var config: CircuitBreaker.Config {
        CircuitBreaker.Config(
            name: Self.circuit,
            trip: .failures(Self.maxFailures, within: Rules.window),
            recovery: RecoveryRule(timeout: Self.recovery, multiplier: Double(Self.multiplier)),
            probes: ProbeRule(limit: 1, lease: Rules.lease)
        )
    }
}
