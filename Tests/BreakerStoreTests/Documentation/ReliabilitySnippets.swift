import BreakerStore

/// The code of "Surviving crashes and clock steps".
enum ReliabilitySnippets {
    static func durability() -> CircuitStore.Configuration {
        // snippet
        var configuration = CircuitStore.Configuration()
        configuration.durability = .everyCommit
        // end of snippet
        return configuration
    }

    static func health(_ store: CircuitStore) -> String {
        // snippet
        switch store.health {
        case .healthy: "shared"
        case .degraded(let since, let error): "guarded in memory since \(since): \(error)"
        case .closed: "closed, guarded in memory"
        @unknown default: "\(store.health)"
        }
        // end of snippet
    }

    static func reboot() throws -> [CircuitState] {
        var states: [CircuitState] = []
        // snippet
        let clock = ManualHostClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        let store = try CircuitStore.temporary(configuration: configuration)
        let circuit = try store.breaker(
            .init(name: "users", recoveryTimeout: .seconds(30), maxFailures: 1, rollingWindow: .seconds(60))
        )
        circuit.recordFailure()
        clock.stepWallTime(by: .seconds(3_600))  // still open
        states.append(circuit.state)
        clock.advance(by: .seconds(30))  // the next call is a probe
        states.append(circuit.state)
        // end of snippet
        store.close()
        return states
    }
}
