import BreakerStore
import Observation

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

    static func consecutive(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet
        let circuit = try store.breaker(
            .init(name: "users", trip: .consecutiveFailures(3), recovery: RecoveryRule(timeout: .seconds(30)))
        )
        // end of snippet
        return circuit
    }

    static func permit(_ circuit: CircuitBreaker, _ api: API) async throws -> String {
        // snippet
        let permit = try await circuit.admit()
        do {
            let user = try await api.fetchUser()
            await permit.succeed()
            return user
        } catch {
            await permit.fail(error)
            throw error
        }
        // end of snippet
    }

    // snippet
    @MainActor @Observable final class CircuitStatus {
        private(set) var state: CircuitState
        private let store: CircuitStore
        private let circuit: CircuitBreaker

        init(of circuit: CircuitBreaker, in store: CircuitStore) {
            self.state = circuit.state
            self.store = store
            self.circuit = circuit
        }

        func follow() async {
            let events = self.store.events()
            self.state = self.circuit.state
            for await event in events where event.circuit == self.circuit.name || event.kind == .missed {
                self.state = self.circuit.state
            }
        }
    }
    // end of snippet
}
