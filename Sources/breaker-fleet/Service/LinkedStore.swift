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

    /// How long the program waits before it again tries a file that can't be opened.
    private static let retryInterval = Duration.seconds(1)

    /// Runs the link until the task is cancelled.
    ///
    /// If the file does not exist yet, or can't be used just now, this tries again: the services may create the file
    /// later, and need the link then.
    func run() async {
        var lastProblem: String?
        while !Task.isCancelled {
            do {
                let store = try self.open()
                defer { store.close() }
                let link = try FleetLink(
                    store: store, connection: self.connection, configuration: self.watched())
                lastProblem = nil
                try await link.run()
            } catch {
                let text = Self.message(for: error)
                if text != lastProblem {
                    self.log.write("can't use \(self.path.quoted): \(text)", about: self.name, .warning)
                }
                lastProblem = text
            }
            // In a cancelled task this returns at once.
            try? await Task.sleep(for: Self.retryInterval)
        }
    }

    private func open() throws(BreakerStoreError) -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.access = .existing
        configuration.workerName = FleetProgram.name
        // The link leaves the migration to a service, because services of an older release may still use the file.
        configuration.migration = .never
        return try CircuitStore(path: self.path, configuration: configuration)
    }

    private func watched() -> FleetLink.Configuration {
        var configuration = self.configuration
        let (name, log) = (self.name, self.log)
        // While the server can't be reached, each try may fail with another message; the log gets a line for each kind
        // of error.
        let reported = LastReported<FleetError.Code>()
        configuration.onHealth = { health in
            let code: FleetError.Code? = if case .cutOff(_, let error) = health { error.code } else { nil }
            guard reported.change(to: code) || code == nil else { return }
            log.write(health.line.text, about: name, health.line.weight)
        }
        configuration.onNews = { log.write($0.description, about: name) }
        return configuration
    }

    private static func message(for error: any Error) -> String {
        switch error {
        case let error as BreakerStoreError where error.code == .notFound: "no store is there yet"
        case let error as BreakerStoreError:
            (error.message.isEmpty ? "\(error.code)" : error.message.escaped)
                + (error.advice.map { "; \($0.escaped)" } ?? "")
        case let error as FleetError: error.message.escaped
        default: "\(error)".escaped
        }
    }
}
#endif
