import BreakerStore

/// The code of "Bringing a breaker into a running service".
struct BringingSnippets {
    static func observe(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet
        var calls = CallPolicy()
        calls.measuresDurations = true
        let payments = try store.breaker(
            .init(
                name: "payments", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(30)),
                recovery: RecoveryRule(timeout: .seconds(10)), mode: .observing),
            calls: calls)
        // end of snippet
        return payments
    }

    // snippet
    func report(on name: String, in store: CircuitStore) throws -> String {
        guard let circuit = try store.circuit(named: name) else { return "\(name) is not registered" }
        let totals = circuit.totals
        var report = "\(name) would be \(circuit.state), \(totals.refused) calls would have been refused; "
        report += "\(totals.failed) of \(totals.succeeded + totals.failed) failed"
        if let recent = circuit.recent {
            report += ", within \(recent.window) \(recent.failed) of \(recent.calls)"
        }
        return report
    }

    /// The bound within which so large a share of the calls ended; nil if it is beyond all bounds.
    func bound(of share: Double, in durations: CallTotals.Durations) -> Duration? {
        let calls = durations.counts.reduce(0, +)
        var ended: UInt64 = 0
        for (bound, count) in zip(durations.bounds, durations.counts) {
            ended += count
            if Double(ended) >= share * Double(calls) { return bound }
        }
        return nil
    }
    // end of snippet

    static func enforce(_ store: CircuitStore) throws -> CircuitBreaker {
        // snippet
        let payments = try store.breaker(
            .init(
                name: "payments", trip: .failureRate(0.3, minimumCalls: 50, within: .seconds(30)),
                slow: SlowCallRule(longerThan: .seconds(2), share: 0.5, minimumCalls: 50, within: .seconds(30)),
                recovery: RecoveryRule(timeout: .seconds(10))))
        // end of snippet
        return payments
    }
}
