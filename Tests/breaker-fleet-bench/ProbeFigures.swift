#if PostgreSQL
import BreakerStore
import Synchronization

/// How many probes there are at once while hosts call a service that breaks and comes back.
final class ProbeFigures: Sendable {
    private struct State {
        var isUp = true
        var isStopped = false
        var doomed = 0
        /// From now on calls of these hosts through a circuit that is half-open count as probes.
        var counted: Set<String> = []
        var running = 0
        var maxAtOnce = 0
        var probers: [String] = []
    }

    private let hosts: [BenchHost]
    private let state = Mutex(State())

    init(hosts: [BenchHost]) { self.hosts = hosts }

    func tell() async throws {
        // More failures than one host has before the fleet has counted those of all.
        let breakers = try self.hosts.map { try $0.breaker(failures: 100, recovery: .milliseconds(500), successes: 3) }
        try await self.hosts.waitUntilJoined()
        let traffic = Task { await self.call(breakers) }
        defer { traffic.cancel() }
        try await Task.sleep(for: .seconds(2))
        self.state.withLock { $0.isUp = false }
        try await Waiting.until("all are open") { breakers.allSatisfy { $0.state != .closed } }
        let doomed = self.state.withLock { $0.doomed }
        // A host that was faster than the fleet has a circuit of its own to probe.
        let joint = try self.hosts.filter { try $0.events(.tripped).allSatisfy { $0.by == "fleet" } }
        self.state.withLock { $0.counted = Set(joint.map(\.name)) }
        try await Waiting.until("ten probes have failed") { self.state.withLock { $0.probers.count } >= 10 }
        self.state.withLock { $0.isUp = true }
        try await Waiting.until("all are closed") { breakers.allSatisfy { $0.state == .closed } }
        self.state.withLock { $0.isStopped = true }
        await traffic.value
        let (most, probers) = self.state.withLock { ($0.maxAtOnce, $0.probers) }
        print("  \(self.hosts.count) hosts under traffic, of which \(joint.count) have tripped together:")
        print("    \(doomed) doomed calls until all were open, \(probers.count) probes, at most \(most) at once")
        print("    the last three by \(Set(probers.suffix(3)).sorted())")
        if most > 1 { throw BenchError.broken("one probe at a time: \(most)") }
    }

    /// Calls through all circuits until it is stopped.
    private func call(_ breakers: [CircuitBreaker]) async {
        await withTaskGroup(of: Void.self) { group in
            for (host, breaker) in zip(self.hosts, breakers) {
                group.addTask {
                    while !self.state.withLock({ $0.isStopped }), !Task.isCancelled {
                        try? await breaker.run { () async throws -> Void in
                            try await self.answer(host.name, isProbe: breaker.state == .halfOpen)
                        }
                        try? await Task.sleep(for: .milliseconds(50))
                    }
                }
            }
        }
    }

    private func answer(_ host: String, isProbe: Bool) async throws {
        let counts = self.state.withLock { state in
            if !state.isUp { state.doomed += 1 }
            let counts = isProbe && state.counted.contains(host)
            if counts {
                state.running += 1
                state.maxAtOnce = max(state.maxAtOnce, state.running)
                state.probers.append(host)
            }
            return counts
        }
        if counts {
            try? await Task.sleep(for: .milliseconds(30))
            self.state.withLock { $0.running -= 1 }
        }
        if self.state.withLock({ !$0.isUp }) { throw BenchHost.Down() }
    }
}
#endif
