#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// Hosts with a real server trip, probe and close together.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FleetTripTests {
    @Test func fiveFailuresOnTwoHostsOpenAll() async throws {
        try await Fleet.with(3) { hosts, database in
            hosts[0].fail(3)
            hosts[1].fail(1)
            try await Fleet.wait("4 failures are told") {
                try database.number("SELECT count(*) FROM fleet.failure") == 4
            }
            // A link that starts anew pushes them again.
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(hosts.allSatisfy { !$0.isOpen })
            #expect(try database.number("SELECT count(*) FROM fleet.failure") == 4)
            hosts[1].fail()
            try await Fleet.wait("all are open") { hosts.allSatisfy(\.isOpen) }
            #expect(try database.number("SELECT trips FROM fleet.circuit") == 1)
            for host in hosts {
                let trips = try host.events(.tripped)
                #expect(trips.count == 1)
                #expect(trips.first?.by == "fleet")
                #expect(trips.first?.reason?.hasPrefix("5 failures of 2 hosts within 60 s") == true)
            }
        }
    }

    /// Without notifications the beats tell of it.
    @Test func hostsThatDoNotListenTripToo() async throws {
        let beatsAlone: @Sendable (inout FleetLink.Configuration) -> Void = { $0.listens = false }
        try await Fleet.with(3, beatsAlone) { hosts, _ in
            try await Fleet.trip(hosts)
            try await Fleet.close(hosts)
            for host in hosts { #expect(try host.events(.tripped).map(\.by) == ["fleet"]) }
        }
    }

    @Test func oneHostOpensNoOther() async throws {
        try await Fleet.with(2) { hosts, database in
            hosts[0].fail(5)
            #expect(hosts[0].isOpen)
            try await Fleet.wait("the failures are told") {
                try database.number("SELECT count(*) FROM fleet.failure") == 5
            }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(!hosts[1].isOpen)
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE state = 'open'") == 0)
        }
    }

    @Test func oneProbeClosesAll() async throws {
        try await Fleet.with(4) { hosts, _ in
            try await Fleet.trip(hosts)
            let probes = Locked(0)
            try await Fleet.wait("all are closed") {
                for host in hosts where host.isOpen {
                    // The fleet may have closed the circuit just now: then the call is no probe.
                    host.call { if host.breaker.state == .halfOpen { probes.withLock { $0 += 1 } } }
                }
                return hosts.allSatisfy { !$0.isOpen }
            }
            #expect(probes.withLock { $0 } == 1)
            for host in hosts { #expect(try host.events(.closed).count == 1) }
        }
    }
}
#endif
