import BreakerStore
import Testing

/// The examples of the types by which a program opens a store and makes calls.
enum StoreSnippets {
    static func store(_ api: API) async throws {
        // snippet: CircuitStore
        // Once, when the process starts:
        let store = try CircuitStore(path: "/var/lib/shop/breakers.db")
        let users = try store.breaker(.init(name: "users", trip: .failures(5, within: .seconds(60))))

        // For each call, in every process:
        let user = try await users.run { try await api.fetchUser() }

        // Before the process exits:
        store.close()
        // end
        print(user)
    }

    static func circuit(_ store: CircuitStore, _ api: API) async throws -> String {
        // snippet: CircuitBreaker
        let users = try store.breaker(.init(name: "users"))
        do {
            return try await users.run { try await api.fetchUser() }
        } catch let refusal as CircuitOpenError {
            // The circuit is open, so the operation did not run.
            return refusal.retryAfter.map { "try again in \($0)" } ?? "try again later"
        }
        // end
    }

    static func permit(_ users: CircuitBreaker, _ api: API) async throws {
        // snippet: CallPermit
        let permit = try await users.admit()
        api.fetch { result in
            switch result {
            case .success: permit.succeedLater()
            case .failure(let error): permit.failLater(error)
            }
        }
        // end
    }
}

// snippet: temporary
@Test func refusesAfterTwoFailures() async throws {
    let store = try CircuitStore.temporary()
    defer { store.close() }
    let users = try store.breaker(.init(name: "users", trip: .consecutiveFailures(2)))
    await users.recordFailure()
    #expect(users.isCallPermitted)
    await users.recordFailure()
    #expect(!users.isCallPermitted)
}
// end

// snippet: ManualHostClock
@Test func letsAProbeThroughAfterTheRecoveryTime() async throws {
    var configuration = CircuitStore.Configuration()
    let clock = ManualHostClock()
    configuration.clock = clock
    let store = try CircuitStore.temporary(configuration: configuration)
    defer { store.close() }
    let recovery = RecoveryRule(timeout: .seconds(30))
    let users = try store.breaker(.init(name: "users", trip: .consecutiveFailures(1), recovery: recovery))
    await users.recordFailure()
    #expect(!users.isCallPermitted)
    clock.advance(by: .seconds(30))
    #expect(users.isCallPermitted)
}
// end
