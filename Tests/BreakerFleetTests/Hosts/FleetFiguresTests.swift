#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Foundation
import Testing

@testable import BreakerFleet

/// What links cost the server: counts are judged, times are printed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FleetFiguresTests {
    /// 50 hosts have a failure each at the same moment: one trip, for few statements.
    @Test func aStormIsOneTrip() async throws {
        try await Fleet.with(50) { hosts, database in
            try await Task.sleep(for: .milliseconds(2_500))
            let before = hosts.map(\.link.statements).reduce(0, +)
            let start = ContinuousClock.now
            await withTaskGroup(of: Void.self) { group in
                for host in hosts { group.addTask { host.fail() } }
            }
            try await Fleet.wait("all are open") { hosts.allSatisfy(\.isOpen) }
            let passed = (ContinuousClock.now - start) / .seconds(1)
            let sent = hosts.map(\.link.statements).reduce(0, +) - before
            print("storm of 50 failures on 50 hosts: \(sent) statements, all open after \(passed) s")
            // Beats go on meanwhile, one a second each.
            #expect(Double(sent) <= 150 + 50 * (passed + 1))
            #expect(try database.number("SELECT trips FROM fleet.circuit") == 1)
            for host in hosts { #expect(try host.events(.tripped).count == 1) }
        }
    }

    /// A link whose circuits are well says and asks one thing a second.
    @Test func idleLinksOnlyBeat() async throws {
        try await Fleet.with(10) { hosts, _ in
            for host in hosts {
                let store = host.store
                for number in 0..<100 {
                    _ = try synchronously { try store.breaker(FleetHost.config("circuit \(number)")) }
                }
            }
            try await Task.sleep(for: .seconds(4))
            let before = hosts.map(\.link.statements).reduce(0, +)
            let start = ContinuousClock.now
            let used = clock()
            try await Task.sleep(for: .seconds(4))
            let share = Double(clock() - used) / Double(CLOCKS_PER_SEC)
            let passed = (ContinuousClock.now - start) / .seconds(1)
            let sent = hosts.map(\.link.statements).reduce(0, +) - before
            print(
                "10 idle links of 100 circuits: \(Double(sent) / passed / 10) statements a second each,"
                    + " \(100 * share / passed / 10) % of a core each")
            #expect(Double(sent) <= 10 * (passed + 1))
        }
    }
}
#endif
