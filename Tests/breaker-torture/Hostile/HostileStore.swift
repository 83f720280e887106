import BreakerStore
import BreakerTestSupport

/// The store that an enemy has in his hands: circuits in every state, as a process leaves them that dies.
enum HostileStore {
    /// `closed` has two failures of five, `half` a probe under way, `run` failures in a row.
    static let circuits = ["closed", "open", "held", "half", "run"]
    /// What calls of them are refused, whatever happens to the others.
    static let refusing = ["open", "held"]
    static let threshold = 5

    private static let day = Duration.seconds(86_400)

    static func config(_ name: String) -> CircuitBreaker.Config {
        let trip: TripRule =
            name == "run" ? .consecutiveFailures(self.threshold) : .failures(self.threshold, within: self.day)
        // Longer each time: on a slow machine a millisecond is over before the next call, which would probe again.
        let timeout = name == "half" ? .milliseconds(1) : self.day
        return .init(
            name: name, group: "hostile", trip: trip,
            recovery: RecoveryRule(timeout: timeout, multiplier: 2, cap: self.day),
            probes: ProbeRule(lease: self.day))
    }

    static func bytes(_ name: String, in directory: String, isCopied: Bool) throws -> StoreBytes {
        try StoreBytes(name, in: directory, isCopied: isCopied) { store in
            let breakers = try self.circuits.map { try store.breaker(self.config($0)) }
            for (name, breaker) in zip(self.circuits, breakers) {
                let count = name == "open" || name == "half" ? self.threshold : 2
                for _ in 0..<count { breaker.recordFailure() }
            }
            try store.hold("held", .open, for: self.day, by: "torture", reason: "to be found again")
            return try (breakers, self.probe(breakers[3]))
        }
    }

    /// A probe of the half-open circuit, as soon as one may come.
    private static func probe(_ breaker: CircuitBreaker) throws -> CallPermit {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            do {
                return try breaker.admit()
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
            }
        }
    }
}
