#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool

/// A store's file and its link, while the program runs.
struct LinkedStore: Sendable {
    let path: String
    /// The name of this file's host in the log.
    let name: String
    let connection: String
    let configuration: FleetLink.Configuration
    let log: ServiceLog

    /// How often the program tries a file again that can't be opened.
    private static let patience = Duration.seconds(1)

    /// Works until the task is cancelled.
    ///
    /// A file that is not there yet, or can't be used just now, does not end the work: the services make the file, and
    /// have no use for a link that ends.
    func run() async {
        var complaint: String?
        while !Task.isCancelled {
            do {
                let store = try self.open()
                defer { store.close() }
                let link = try FleetLink(
                    store: store, connection: self.connection, configuration: self.watched())
                complaint = nil
                try await link.run()
            } catch {
                let text = Self.words(for: error)
                if text != complaint {
                    self.log.write("waits for \(self.path.quoted): \(text)", about: self.name, .warning)
                }
                complaint = text
            }
            // A cancelled task does not sleep.
            try? await Task.sleep(for: Self.patience)
        }
    }

    private func open() throws(BreakerStoreError) -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.access = .existing
        configuration.workerName = FleetProgram.name
        // The link waits until a service has migrated the file: services of an older release may still use it.
        configuration.migration = .never
        return try CircuitStore(path: self.path, configuration: configuration)
    }

    private func watched() -> FleetLink.Configuration {
        var configuration = self.configuration
        let (name, log) = (self.name, self.log)
        // While the server can't be reached, each try may fail in other words; the log gets one line for each kind of
        // error.
        let told = LastReported<FleetError.Code>()
        configuration.onHealth = { health in
            let code: FleetError.Code? = if case .cutOff(_, let error) = health { error.code } else { nil }
            guard told.change(to: code) || code == nil else { return }
            log.write(health.line.text, about: name, health.line.weight)
        }
        configuration.onNews = { log.write($0.description, about: name) }
        return configuration
    }

    private static func words(for error: any Error) -> String {
        switch error {
        case let error as BreakerStoreError where error.code == .notFound: "no store is there yet"
        case let error as BreakerStoreError: error.message.isEmpty ? "\(error.code)" : error.message.escaped
        case let error as FleetError: error.message.escaped
        default: "\(error)".escaped
        }
    }
}
#endif
