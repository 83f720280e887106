import BreakerStore
import BreakerTestSupport

/// The store that an enemy has in his hands: circuits in every state, as a process leaves them that dies.
enum HostileStore {
    static func bytes(_ name: String, in directory: String, isCopied: Bool) throws -> StoreBytes {
        try StoreBytes(name, in: directory, isCopied: isCopied) { store in
            let breakers = try HostileCircuits.names.map { try store.breaker(HostileCircuits.config($0)) }
            for (name, breaker) in zip(HostileCircuits.names, breakers) {
                let count = name == "open" || name == "half" ? HostileCircuits.threshold : 2
                for _ in 0..<count { breaker.recordFailure() }
            }
            try store.hold("held", .open, for: HostileCircuits.day, by: "torture", reason: "to be found again")
            return try (breakers, self.probe(breakers[3]))
        }
    }

    /// A probe of the half-open circuit, as soon as one may come.
    private static func probe(_ breaker: CircuitBreaker) throws -> CallPermit {
        let deadline = ContinuousClock.now + .hangLimit
        while true {
            do {
                return try breaker.admit()
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
            }
        }
    }
}
