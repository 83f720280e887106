import BreakerStore

/// The examples of rules and policies.
enum RuleSnippets {
    static func trips() -> [CircuitBreaker.Config] {
        // snippet: TripRule
        // Few calls: five failures within a minute, counted over all processes.
        let users = CircuitBreaker.Config(name: "users", trip: .failures(5, within: .seconds(60)))

        // Many calls: half of at least 20 calls within ten seconds.
        let rate = TripRule.failureRate(0.5, minimumCalls: 20, within: .seconds(10))
        let search = CircuitBreaker.Config(name: "search", trip: rate)

        // One call now and then: three failures in a row, however far apart.
        let rates = CircuitBreaker.Config(name: "rates", trip: .consecutiveFailures(3))
        // end
        return [users, search, rates]
    }

    static func slow(_ store: CircuitStore, _ api: API) async throws -> String {
        // snippet: SlowCallRule
        // Trips when half of at least 20 calls within a minute took longer than two seconds.
        let slow = SlowCallRule(longerThan: .seconds(2), share: 0.5, minimumCalls: 20, within: .seconds(60))
        let search = try store.breaker(.init(name: "search", slow: slow))
        let results = try await search.run { try await api.fetchUser() }
        // end
        return results
    }

    static func policy(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet: CallPolicy
        var policy = CallPolicy(timeout: .seconds(2))
        policy.classify = { error in
            // The service answered, so a bad request says nothing bad about it.
            if let error = error as? HTTPError, error.status < 500 { return .success }
            return CallPolicy().classify(error)
        }
        let users = try store.breaker(.init(name: "users"), calls: policy)
        // end
        return users
    }

    static func retries(_ store: CircuitStore, _ api: API) async throws -> String {
        // snippet: RetryRule
        // Up to three retries, after 100, 200 and 400 ms; each wait is up to a quarter longer by chance.
        let retry = RetryRule.exponential(maxRetries: 3, delay: .milliseconds(100), jitter: 0.25)
        let users = try store.breaker(.init(name: "users"), calls: CallPolicy(retry: retry))
        let user = try await users.run { try await api.fetchUser() }
        // end
        return user
    }
}
