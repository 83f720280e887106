import BreakerStore

/// The code of "Choosing thresholds".
enum ThresholdSnippets {
    static func busy() -> CircuitBreaker.Config {
        // snippet
        let config = CircuitBreaker.Config(
            name: "payments",
            trip: .failures(20, within: .seconds(10)),
            recovery: RecoveryRule(timeout: .seconds(5), multiplier: 2, cap: .seconds(300), jitter: 0.2)
        )
        // end of snippet
        return config
    }

    static func quiet() -> CircuitBreaker.Config {
        // snippet
        let config = CircuitBreaker.Config(
            name: "export",
            trip: .consecutiveFailures(3),
            recovery: RecoveryRule(timeout: .seconds(900), cap: .seconds(900))
        )
        // end of snippet
        return config
    }

    static func share() -> CircuitBreaker.Config {
        // snippet
        let config = CircuitBreaker.Config(
            name: "search",
            trip: .failureRate(0.5, minimumCalls: 100, within: .seconds(20)),
            slow: SlowCallRule(longerThan: .seconds(2), share: 0.8, minimumCalls: 100, within: .seconds(20))
        )
        // end of snippet
        return config
    }

    static func slow(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet
        var calls = CallPolicy()
        calls.timeout = .seconds(60)
        let reports = try store.breaker(.init(name: "reports", probes: ProbeRule(lease: .seconds(90))), calls: calls)
        // end of snippet
        return reports
    }

    static func returning(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet
        let returning = ProbeRule(successesToClose: 63, growth: 2, toleratedShare: 0.05)
        let search = try store.breaker(.init(name: "search", probes: returning))
        // end of snippet
        return search
    }

    static func outage() -> CallPolicy {
        // snippet
        var calls = CallPolicy()
        calls.classify = { error in
            switch error {
            case let error as HTTPError where error.status == 429 || error.status == 503: .outage(for: error.retryAfter)
            default: CallPolicy().classify(error)
            }
        }
        // end of snippet
        return calls
    }
}
