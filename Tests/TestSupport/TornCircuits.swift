package import BreakerStore

/// The circuits of a store that is damaged on purpose: those who make it and those who use it must agree on them.
package enum TornCircuits {
    /// What they are called; none of them is due before the tests are over.
    package static let names = ["closed", "open", "held", "consecutive"]

    package static func config(_ name: String) -> CircuitBreaker.Config {
        let trip: TripRule = name == "consecutive" ? .consecutiveFailures(100) : .failures(3, within: .seconds(86_400))
        return .init(
            name: name, group: "torn", trip: trip,
            recovery: RecoveryRule(timeout: .seconds(86_400), cap: .seconds(86_400)))
    }
}
