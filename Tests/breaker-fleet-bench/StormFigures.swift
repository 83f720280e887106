#if PostgreSQL
import BreakerStore

/// What it takes when all hosts have a failure at the same moment.
struct StormFigures {
    let hosts: [BenchHost]

    func tell() async throws {
        let breakers = try self.hosts.map { try $0.breaker(failures: 5, recovery: .seconds(60)) }
        try await self.hosts.waitUntilJoined()
        // Each link makes and reads the register first.
        try await Task.sleep(for: .seconds(5))
        let (statements, start) = (self.hosts.statements, ContinuousClock.now)
        await withTaskGroup(of: Void.self) { group in
            for breaker in breakers {
                group.addTask { try? await breaker.run { () async throws -> Void in throw BenchHost.Down() } }
            }
        }
        try await Waiting.until("all are open") { breakers.allSatisfy { $0.state != .closed } }
        let open = ContinuousClock.now - start
        // What comes after the trip counts, too.
        try await Task.sleep(for: .seconds(1))
        let passed = (ContinuousClock.now - start) / .seconds(1)
        let sent = self.hosts.statements - statements
        let beats = Int((passed * Double(self.hosts.count)).rounded())
        print("  a failure on each of \(self.hosts.count) hosts: all open after \(open)")
        print("    \(sent) statements within \(passed) s, of which about \(beats) are heartbeats")
        let trips = try self.hosts.map { try $0.events(.tripped).count }
        if trips.contains(where: { $0 != 1 }) { throw BenchError.broken("one trip on each host: \(trips)") }
        if sent - beats - self.hosts.count > 3 * self.hosts.count {
            throw BenchError.broken("three statements a host")
        }
    }
}
#endif
