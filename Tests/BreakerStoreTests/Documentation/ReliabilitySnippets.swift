import BreakerStore

/// The code of "Surviving crashes and clock steps", and of the planned migration in "Running workers on a host".
enum ReliabilitySnippets {
    static func durability() -> CircuitStore.Configuration {
        // snippet
        var configuration = CircuitStore.Configuration()
        configuration.durability = .everyCommit
        // end of snippet
        return configuration
    }

    static func plannedMigration() -> CircuitStore.Configuration {
        // snippet
        var configuration = CircuitStore.Configuration()
        configuration.migration = .never
        configuration.whenUnavailable = .degrade
        // end of snippet
        return configuration
    }

    static func migrate(_ path: String) throws {
        // snippet
        try CircuitStore(path: path).close()
        // end of snippet
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
