import BreakerStore

/// The code of "Sharing a store between processes".
enum SharingSnippets {
    static func open(_ path: String) throws -> CircuitStore {
        // snippet
        var configuration = CircuitStore.Configuration()
        configuration.workerName = "shop-worker"
        configuration.fileMode = 0o660
        configuration.whenUnavailable = .degrade
        let store = try CircuitStore(path: path, configuration: configuration)
        // end of snippet
        return store
    }

    static func look(_ path: String) throws -> [CircuitSnapshot] {
        // snippet
        var configuration = CircuitStore.Configuration()
        configuration.access = .readOnly
        let store = try CircuitStore(path: path, configuration: configuration)
        let circuits = try store.circuits(matching: "pay*")
        // end of snippet
        return circuits
    }

    static func watch(_ store: CircuitStore) async {
        // snippet
        for await event in store.events() where event.kind == .tripped {
            print(event.circuit ?? "", event.reason ?? "", event.worker ?? "", event.isOwn)
        }
        // end of snippet
    }
}
