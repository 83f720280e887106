import BreakerStore

/// The code of "Moving from an in-memory breaker".
enum MovingSnippets {
    static func config() -> CircuitBreaker.Config {
        // snippet
        let config = CircuitBreaker.Config(
            name: "UserServiceAPI",
            group: "NetworkServices",
            recoveryTimeout: .seconds(30),
            maxFailures: 5,
            rollingWindow: .seconds(60)
        )
        // end of snippet
        return config
    }

    static func strategy() -> CallPolicy {
        // snippet
        var calls = CallPolicy()
        calls.classify = { error in
            switch error {
            case is ConnectionRefused: .ignored
            default: CallPolicy().classify(error)
            }
        }
        // end of snippet
        return calls
    }

    static func retries(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet
        var calls = CallPolicy()
        calls.timeout = .seconds(10)
        calls.retry = .exponential(maxRetries: 2, delay: .seconds(2), multiplier: 2)
        let config = CircuitBreaker.Config(
            name: "users",
            trip: .consecutiveFailures(3),
            recovery: RecoveryRule(timeout: .seconds(10))
        )
        let circuit = try store.breaker(config, calls: calls)
        // end of snippet
        return circuit
    }

    static func call(_ circuit: CircuitBreaker, _ api: API) async throws -> String? {
        // snippet
        do {
            return try await circuit.run { try await api.fetchUser() }
        } catch let refusal as CircuitOpenError {
            print(refusal)
            return nil
        }
        // end of snippet
    }
}
