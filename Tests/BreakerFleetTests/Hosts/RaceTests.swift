#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerFleet

/// What happens at the same moment on several hosts.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RaceTests {
    /// `FLEET_ROUNDS=1000` plays so many.
    private static let rounds = ProcessInfo.processInfo.environment["FLEET_ROUNDS"].flatMap { Int($0) } ?? 50

    /// The failure that each host tells last is the fifth for nobody until both are committed.
    @Test func twoLastFailuresAtOnceTrip() async throws {
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(60))) { hosts, database in
            let owner = try database.connect()
            // What led to an earlier trip may stay for a moment, and counts no more.
            let told = "SELECT count(*) FROM fleet.failure AS f JOIN fleet.circuit AS c ON c.since <= f.at"
            func number(_ sql: String) throws -> Int64 { try owner.run(sql).first?.number(0) ?? -1 }
            var newest = hosts.map { _ in Int64(0) }
            for round in 0..<Self.rounds {
                hosts[0].fail(2)
                hosts[1].fail()
                try await Fleet.wait("3 failures are told in round \(round)") {
                    try number(told) == 3
                }
                #expect(hosts.allSatisfy { !$0.isOpen })
                let ready = Locked(0)
                _ = try await Threads { host in
                    ready.withLock { $0 += 1 }
                    while ready.withLock({ $0 }) < 2 {}
                    hosts[host].fail()
                    return true
                }.run(2)
                try await Fleet.wait("both are open in round \(round)") { hosts.allSatisfy(\.isOpen) }
                let generation = try number("SELECT generation FROM fleet.circuit")
                try synchronously { try hosts[round % 2].store.reset("api", by: "ann") }
                try await Fleet.wait("both are closed in round \(round)") {
                    try hosts.allSatisfy { !$0.isOpen }
                        && number("SELECT generation FROM fleet.circuit WHERE state = 'closed'") > generation
                }
                for (number, host) in hosts.enumerated() {
                    let events = try synchronously { try host.store.history(of: "api", limit: 20) }
                    #expect(events.count { $0.id > newest[number] && $0.kind == .tripped } == 1)
                    newest[number] = events.first?.id ?? 0
                }
            }
        }
    }

    @Test(arguments: [1, -1]) func aSteppedServerClockCostsNoMoreThanARecovery(hours: Int) async throws {
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(2))) { hosts, database in
            try await Fleet.trip(hosts)
            try database.setClock(ahead: hours * 3_600)
            // Long before an hour is over.
            try await Fleet.close(hosts)
            // They trip as before.
            try await Fleet.trip(hosts)
            try await Fleet.close(hosts)
            for host in hosts { #expect(try host.events(.tripped).count == 2) }
        }
    }
}
#endif
