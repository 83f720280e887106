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

    /// From the fifth failure to the first refusal on another host.
    @Test(arguments: [true, false]) func aTripIsQuick(listens: Bool) async throws {
        let change: @Sendable (inout FleetLink.Configuration) -> Void = { $0.listens = listens }
        try await Fleet.with(3, change) { hosts, _ in
            var times: [Double] = []
            for _ in 0..<(listens ? 30 : 6) {
                for number in 0..<4 { hosts[number % 2].fail() }
                try await Task.sleep(for: .milliseconds(60))
                let start = ContinuousClock.now
                hosts[1].fail()
                try await Fleet.wait("another host refuses") { !hosts[2].breaker.isCallPermitted }
                times.append((ContinuousClock.now - start) / .milliseconds(1))
                try await Fleet.wait("all are open") { hosts.allSatisfy(\.isOpen) }
                let store = hosts[0].store
                try synchronously { try store.reset("api", by: "ann") }
                try await Fleet.wait("all are closed") { hosts.allSatisfy { !$0.isOpen } }
                try await Task.sleep(for: .milliseconds(40))
            }
            times.sort()
            print(
                "fifth failure to refusal elsewhere, \(listens ? "with" : "without") NOTIFY:"
                    + " p50 \(times[times.count / 2]) ms, longest \(times[times.count - 1]) ms")
        }
    }

    /// Calls on a file that has a link, beside calls on one that has none; also while the server is away.
    @Test(arguments: [false, true]) func callsPayNothingForALink(whileStalled isStalled: Bool) async throws {
        let database = try await TestDatabase()
        let proxy = try await FleetProxy(to: database.server)
        let host = try FleetHost(0, proxy.connection(to: database))
        try await Fleet.ending([host]) {
            try await Fleet.wait("the host is joined") { host.isJoined }
            if isStalled {
                try await proxy.stall()
                try await Fleet.wait("the host is cut off") { host.isCutOff }
            }
            let alone = try CircuitStore.temporary()
            defer { alone.close() }
            let config = FleetHost.config("many", failures: 1_000_000)
            let store = host.store
            let linked = try synchronously { try store.breaker(config) }
            let other = try synchronously { try alone.breaker(config) }
            func times(_ count: Int, _ body: () -> Void) -> [Double] {
                (0..<count).map { _ in
                    let start = ContinuousClock.now
                    body()
                    return (ContinuousClock.now - start) / .microseconds(1)
                }
            }
            var failures: (linked: [Double], alone: [Double]) = ([], [])
            var calls = failures
            // By turns, so that what else the machine does falls on both.
            for _ in 0..<30 {
                failures.linked += times(100) { linked.recordFailure() }
                failures.alone += times(100) { other.recordFailure() }
                calls.linked += times(5_000) { linked.recordSuccess() }
                calls.alone += times(5_000) { other.recordSuccess() }
            }
            func ratio(_ pair: (linked: [Double], alone: [Double]), _ share: Double) -> Double {
                let (linked, alone) = (pair.linked.sorted(), pair.alone.sorted())
                return linked[Int(Double(linked.count) * share)] / alone[Int(Double(alone.count) * share)]
            }
            print(
                "with a link\(isStalled ? " whose server is away" : ""), beside without: failures"
                    + " p50 × \(ratio(failures, 0.5)), p99 × \(ratio(failures, 0.99)), healthy calls"
                    + " p50 × \(ratio(calls, 0.5)), p99 × \(ratio(calls, 0.99))")
            if !isStalled { try await Fleet.wait("the host is joined") { host.isJoined } }
        }
    }
}
#endif
