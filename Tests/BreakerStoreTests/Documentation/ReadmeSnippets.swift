import BreakerStore

/// The README's code.
enum ReadmeSnippets {
    static func example(api: API) async throws -> String {
        // snippet
        // Once, when the process starts:
        let store = try CircuitStore(path: "/var/lib/shop/breakers.db")
        let users = try store.breaker(
            .init(name: "users", recoveryTimeout: .seconds(30), maxFailures: 5, rollingWindow: .seconds(60))
        )

        // For each request:
        do {
            return try await users.run { try await api.fetchUser() }
        } catch let refusal as CircuitOpenError {
            return refusal.retryAfterSeconds.map { "try again in \($0) s" } ?? "try again later"
        }
        // end of snippet
    }

    static func forms(_ circuit: CircuitBreaker, _ api: API) async throws -> (String, API.Response, String) {
        // snippet
        let user = try await circuit.run { try await api.fetchUser() }
        let response = try await circuit.run({ try await api.send() }, failingWhen: { $0.status >= 500 })
        let name = try await circuit.run({ try await api.fetchUser() }, fallback: { _ in "somebody" })
        // end of snippet
        return (user, response, name)
    }

    static func permit(_ circuit: CircuitBreaker, _ api: API) async throws {
        // snippet
        let permit = try await circuit.admit()
        api.fetch { result in
            switch result {
            case .success: permit.succeedLater()
            case .failure(let error): permit.failLater(error)
            }
        }
        // end of snippet
    }

    static func rules(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet
        let config = CircuitBreaker.Config(
            name: "payments", group: "checkout", trip: .failures(20, within: .seconds(10)),
            recovery: RecoveryRule(timeout: .seconds(5), multiplier: 2, cap: .seconds(300), jitter: 0.2),
            probes: ProbeRule(limit: 2, successesToClose: 3, lease: .seconds(15)), minimumReporters: 2
        )
        var calls = CallPolicy()
        calls.timeout = .seconds(3)
        calls.retry = .exponential(maxRetries: 2, delay: .milliseconds(100), jitter: 0.5)
        calls.classify = { error in
            switch error {
            case let error as HTTPError where error.status == 404: .success
            default: CallPolicy().classify(error)
            }
        }
        calls.describe = { error in
            switch error {
            case let error as HTTPError: "HTTPError: \(error.status) from payments.internal"
            default: CallPolicy().describe(error)
            }
        }
        let payments = try store.breaker(config, calls: calls)
        // end of snippet
        return payments
    }

    static func operate(_ store: CircuitStore) throws {
        // snippet
        try store.reset("payments", by: "ann", reason: "the provider is back")
        try store.hold("payments", .open, for: .seconds(3_600), by: "ann", reason: "maintenance")
        try store.release("payments", by: "ann")
        let events = try store.history(of: "payments", limit: 10)
        // end of snippet
        print(events)
    }

    typealias Listener = @Sendable (String) -> Void

    static func hooks(_ path: String, _ page: @escaping Listener, _ log: @escaping Listener) throws -> CircuitStore {
        // snippet
        var configuration = CircuitStore.Configuration()
        configuration.onEvent = { event in
            if event.isOwn, event.kind == .tripped { page("\(event)") }
        }
        configuration.onHealth = { health in log("circuits: \(health)") }
        let store = try CircuitStore(path: path, configuration: configuration)
        // end of snippet
        return store
    }
}
