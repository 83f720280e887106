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
}
