package import BreakerStore

/// The circuits of a store that an enemy has in his hands: those who make it and those who use it must agree on them.
package enum HostileCircuits {
    /// `closed` has two failures of five, `half` a probe under way, `run` failures in a row.
    package static let names = ["closed", "open", "held", "half", "run"]
    /// What calls of them are refused, whatever happens to the others.
    package static let refusing = ["open", "held"]
    package static let threshold = 5
    package static let day = Duration.seconds(86_400)

    package static func config(_ name: String) -> CircuitBreaker.Config {
        let trip: TripRule =
            name == "run" ? .consecutiveFailures(self.threshold) : .failures(self.threshold, within: self.day)
        // Longer each time: on a slow machine a millisecond is over before the next call, which would probe again.
        let timeout = name == "half" ? .milliseconds(1) : self.day
        return .init(
            name: name, group: "hostile", trip: trip,
            recovery: RecoveryRule(timeout: timeout, multiplier: 2, cap: self.day),
            probes: ProbeRule(lease: self.day))
    }
}
