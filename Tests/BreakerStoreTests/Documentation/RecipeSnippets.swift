import BreakerStore
import Foundation

/// The code of "Recipes", but for what calls over HTTP, which is in breaker-worker.
enum RecipeSnippets {
    // snippet
    struct Webhooks {
        let store: CircuitStore

        init(path: String) throws {
            var configuration = CircuitStore.Configuration()
            configuration.forgetIdleAfter = .seconds(7 * 86_400)
            self.store = try CircuitStore(path: path, configuration: configuration)
        }

        func post(_ message: String, to tenant: Int) async throws {
            let circuit = try self.store.breaker(
                .init(name: "webhook of \(tenant)", group: "webhooks", trip: .consecutiveFailures(5)))
            try await circuit.run { try await deliver(message, to: tenant) }
        }

        func troubled() async throws -> [String] {
            try await self.store.circuits(matching: "*", group: "webhooks", isClosed: false, limit: 100).map(\.name)
        }
    }
    // end of snippet

    /// Where the even tenants' webhooks are down.
    private static func deliver(_ message: String, to tenant: Int) async throws {
        if tenant.isMultiple(of: 2) { throw ConnectionRefused() }
    }

    // snippet
    struct Pager {
        /// A store of the access `.readOnly` will do.
        let store: CircuitStore
        /// The file that has the number of the newest event that was dealt with.
        let notes: String
        let page: @Sendable (String) async throws -> Void

        func run() async throws {
            let start = try await self.newestEvent()
            for await event in self.store.events(after: start) {
                if [.tripped, .quarantined, .missed].contains(event.kind) { try await self.page("\(event)") }
                try self.note(event.id)
            }
        }

        private func newestEvent() async throws -> CircuitEvent.ID {
            if let noted = CircuitEvent.ID((try? String(contentsOfFile: self.notes, encoding: .utf8)) ?? "") {
                return noted
            }
            // The first start of all: what has happened so far is old.
            let newest = try await self.store.history(limit: 1).first?.id ?? 0
            try self.note(newest)
            return newest
        }

        private func note(_ id: CircuitEvent.ID) throws {
            try "\(id)".write(toFile: self.notes, atomically: true, encoding: .utf8)
        }
    }
    // end of snippet

    static func log(_ configuration: inout CircuitStore.Configuration, _ calls: inout CallPolicy, to logger: Logger) {
        // snippet
        configuration.onEvent = { event in
            guard event.isOwn else { return }
            let who = "\(event.circuit ?? "the store")"
            logger.notice("\(who) \(event.kind)", metadata: ["reason": "\(event.reason ?? "")"])
        }
        configuration.onHealth = { health in
            switch health {
            case .degraded: logger.warning("circuits are guarded in memory", metadata: ["health": "\(health)"])
            default: logger.notice("the store of circuits is \(health)")
            }
        }
        calls.onOutcome = { outcome in
            guard outcome.result != .succeeded else { return }
            logger.debug("a call of \(outcome.circuit) \(outcome.result) after \(outcome.duration)")
        }
        // end of snippet
    }

    static func measure(_ configuration: inout CircuitStore.Configuration, _ calls: inout CallPolicy) {
        // snippet
        configuration.onEvent = { event in
            guard event.isOwn, let circuit = event.circuit else { return }
            let dimensions = [("circuit", circuit), ("kind", "\(event.kind)")]
            Counter(label: "circuit_events", dimensions: dimensions).increment()
        }
        configuration.onHealth = { health in
            // A store that was closed is no alarm.
            let degraded = if case .degraded = health { 1 } else { 0 }
            Gauge(label: "circuit_store_degraded").record(degraded)
        }
        calls.onOutcome = { outcome in
            let dimensions = [("circuit", outcome.circuit), ("result", "\(outcome.result)")]
            Timer(label: "circuit_calls", dimensions: dimensions).record(duration: outcome.duration)
        }
        // end of snippet
    }

    // snippet
    struct Circuits: Service {
        let store: CircuitStore

        func run() async throws {
            try await cancelWhenGracefulShutdown { try await self.store.run() }
        }
    }
    // end of snippet

    static func answer(_ users: CircuitBreaker, _ api: API) async throws -> String {
        // snippet
        do {
            return try await users.run { try await api.fetchUser() }
        } catch let refusal as CircuitOpenError {
            guard let wait = refusal.retryAfter else { throw refusal }
            // Rounded up: a caller that comes back a moment too early is refused once more.
            let (seconds, rest) = wait.components
            return "503 Service Unavailable, Retry-After: \(rest > 0 ? seconds + 1 : seconds)"
        }
        // end of snippet
    }
}
