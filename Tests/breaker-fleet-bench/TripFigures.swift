#if PostgreSQL
import BreakerStore

/// How long it takes from the failure that trips the fleet to the first refusal on another host.
struct TripFigures {
    let hosts: [BenchHost]
    let rounds: Int

    func tell() async throws {
        guard self.hosts.count > 2, self.rounds > 0 else { throw BenchError.usage }
        let breakers = try self.hosts.map { try $0.breaker(failures: 5, recovery: .seconds(5)) }
        try await self.hosts.waitUntilJoined()
        var times: [Double] = []
        for _ in 0..<self.rounds {
            for number in 0..<4 { Self.fail(breakers[number % 2]) }
            // The failures are told, and counted, before the last one.
            try await Task.sleep(for: .milliseconds(60))
            let start = ContinuousClock.now
            Self.fail(breakers[1])
            try await Waiting.until("another host refuses") { !breakers[2].isCallPermitted }
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            try await Waiting.until("all are open") { breakers.allSatisfy { $0.state != .closed } }
            try self.reset()
            try await Waiting.until("all are closed") { breakers.allSatisfy { $0.state == .closed } }
            try await Task.sleep(for: .milliseconds(40))
        }
        times.sort()
        let (half, longest) = (times[times.count / 2], times[times.count - 1])
        print("  fifth failure to refusal on another host: p50 \(half) ms, longest \(longest) ms")
    }

    /// Blocks until the file has the failure.
    private static func fail(_ breaker: CircuitBreaker) { breaker.recordFailure() }

    private func reset() throws { try self.hosts[0].store.reset(BenchHost.circuit, by: "ann") }
}
#endif
