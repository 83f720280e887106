#if PostgreSQL
import BreakerFleet
import BreakerStore

/// Calls on a file that has a link, beside calls on a file that has none.
struct CallFigures {
    let host: BenchHost

    /// - Parameter isServerThere: whether the link is to be joined before the calls, or cut off.
    func tell(isServerThere: Bool) async throws {
        try await Waiting.until(isServerThere ? "the host is joined" : "the host is cut off") {
            if case .cutOff = self.host.link.health { return !isServerThere }
            return isServerThere && self.host.isJoined
        }
        print("  calls beside a link whose server is \(isServerThere ? "there" : "away"), beside calls without a link:")
        try self.compare()
    }

    private func compare() throws {
        let alone = try CircuitStore.temporary()
        defer { alone.close() }
        let config = CircuitBreaker.Config(name: "many", trip: .failures(1_000_000, within: .seconds(60)))
        let (linked, other) = (try self.host.store.breaker(config), try alone.breaker(config))
        var failures: (linked: [Double], alone: [Double]) = ([], [])
        var calls = failures
        // By turns, so that what else the machine does falls on both.
        for _ in 0..<30 {
            failures.linked += Self.times(100) { linked.recordFailure() }
            failures.alone += Self.times(100) { other.recordFailure() }
            calls.linked += Self.times(5_000) { linked.recordSuccess() }
            calls.alone += Self.times(5_000) { other.recordSuccess() }
        }
        for (what, pair) in [("failures", failures), ("healthy calls", calls)] {
            print("    \(what): p50 × \(Self.ratio(pair, 0.5)), p99 × \(Self.ratio(pair, 0.99))")
        }
    }

    private static func times(_ count: Int, _ body: () -> Void) -> [Double] {
        (0..<count).map { _ in
            let start = ContinuousClock.now
            body()
            return (ContinuousClock.now - start) / .microseconds(1)
        }
    }

    private static func ratio(_ pair: (linked: [Double], alone: [Double]), _ share: Double) -> Double {
        let (linked, alone) = (pair.linked.sorted(), pair.alone.sorted())
        return linked[Int(Double(linked.count) * share)] / alone[Int(Double(alone.count) * share)]
    }
}
#endif
