#if PostgreSQL
import BreakerStore
import BreakerTestSupport
import Foundation

@testable import BreakerFleet

/// What the hosts of a test call: up or down, and aware of how many probes come to it at once.
final class Service: Sendable {
    private struct State {
        var isUp = true
        var isStopped = false
        var counted: Set<String> = []
        var running = 0
        var maxAtOnce = 0
        /// Who probed, in the order of the probes.
        var probers: [String] = []
    }

    private let state = Locked(State())

    var maxAtOnce: Int { self.state.withLock { $0.maxAtOnce } }
    var probers: [String] { self.state.withLock { $0.probers } }

    func set(isUp: Bool) { self.state.withLock { $0.isUp = isUp } }
    /// From now on each call through one of these hosts' circuits that is half-open counts as a probe.
    func countProbes(of hosts: [FleetHost]) { self.state.withLock { $0.counted = Set(hosts.map(\.name)) } }

    /// Calls through the hosts' circuits, each on a thread of its own, until the body has ended.
    func underTraffic(of hosts: [FleetHost], _ body: () async throws -> Void) async throws {
        let left = Locked(hosts.count)
        for host in hosts {
            Thread.detachNewThread {
                while !self.state.withLock({ $0.isStopped }) {
                    host.call { try self.answer(host) }
                    Thread.sleep(forTimeInterval: 0.02)
                }
                left.withLock { $0 -= 1 }
            }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        self.state.withLock { $0.isStopped = true }
        try await Fleet.wait("the traffic has ended") { left.withLock { $0 } == 0 }
        try result.get()
    }

    private func answer(_ host: FleetHost) throws {
        let isProbe = host.breaker.state == .halfOpen
        let (isUp, counts) = self.state.withLock { state in
            let counts = isProbe && state.counted.contains(host.name)
            if counts {
                state.running += 1
                state.maxAtOnce = max(state.maxAtOnce, state.running)
                state.probers.append(host.name)
            }
            return (state.isUp, counts)
        }
        if counts {
            Thread.sleep(forTimeInterval: 0.03)
            self.state.withLock { $0.running -= 1 }
        }
        if !isUp { throw FleetHost.Down() }
    }
}
#endif
