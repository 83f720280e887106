import BreakerStore

/// The names in a store; none if the store can't be read at once.
struct StoreNames {
    /// The most names: a user who presses Tab reads no more.
    static let limit = 500

    let path: String?
    let clock: any HostClock

    /// The names of circuits that begin with a text; of very many only the first and the last.
    func circuits(from prefix: String) -> [String] {
        self.read { (inspection) throws(BreakerStoreError) in try inspection.names(from: prefix, limit: Self.limit) }
    }

    /// Groups of circuits, but not all if there are very many circuits.
    func groups() -> [String] {
        self.read { (inspection) throws(BreakerStoreError) in try inspection.groups(limit: Self.limit) }
    }

    private func read(_ body: (StoreView) throws(BreakerStoreError) -> [String]) -> [String] {
        guard let path = self.path else { return [] }
        var configuration = CircuitStore.Configuration()
        configuration.access = .readOnly
        configuration.clock = self.clock
        configuration.busyTimeout = .milliseconds(20)
        configuration.openingPatience = .milliseconds(20)
        configuration.workerName = Tool.name
        do throws(BreakerStoreError) {
            let store = try CircuitStore(path: path, configuration: configuration)
            defer { store.close() }
            return try store.view(body)
        } catch {
            return []
        }
    }
}
