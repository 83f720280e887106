#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerFleet

/// One host probes for all.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProbeTests {
    private static func shortLease(_ configuration: inout FleetLink.Configuration) {
        configuration.lease = .seconds(1)
        configuration.guardTime = .seconds(1)
    }

    @Test func tenHostsNeverProbeAtOnce() async throws {
        try await Fleet.with(10, config: FleetHost.config(failures: 40, recovery: .milliseconds(300), successes: 3)) {
            hosts, database in
            let service = Service()
            try await service.underTraffic(of: hosts) {
                try await Task.sleep(for: .milliseconds(200))
                service.set(isUp: false)
                try await Fleet.wait("all are open") { hosts.allSatisfy(\.isOpen) }
                // Calls that were let through while the circuits were closed have ended by then.
                try await Task.sleep(for: .milliseconds(200))
                // A host that was faster than the fleet probes for itself once the fleet is closed.
                let joint = try hosts.filter { try $0.events(.tripped).allSatisfy { $0.by == "fleet" } }
                try #require(!joint.isEmpty)
                service.countProbes(of: joint)
                try await Fleet.wait("probes fail") { service.probers.count >= 5 }
                service.set(isUp: true)
                try await Fleet.wait("all are closed") { hosts.allSatisfy { !$0.isOpen } }
            }
            print("probed by \(service.probers)")
            #expect(service.maxAtOnce == 1)
            // One host has collected all successes.
            #expect(Set(service.probers.suffix(3)).count == 1)
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE state = 'open'") == 0)
        }
    }

    @Test func anIdleFleetIsSilentAndProbesAtItsFirstCall() async throws {
        try await Fleet.with(3) { hosts, database in
            let owner = try database.connect()
            func look(_ sql: String) throws -> String { try owner.run(sql).first?.text(0) ?? "none" }
            // The server notes who has had the right to probe: a test that only looks may miss a turn of 2 s.
            for statement in [
                "CREATE TABLE public.turn (host text PRIMARY KEY)",
                """
                CREATE FUNCTION public.note_turn() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
                INSERT INTO public.turn VALUES (NEW.lease_host) ON CONFLICT DO NOTHING; RETURN NULL; END $$
                """,
                """
                CREATE TRIGGER note_turn AFTER UPDATE ON fleet.circuit FOR EACH ROW WHEN (NEW.lease_host IS NOT NULL)
                EXECUTE FUNCTION public.note_turn()
                """,
            ] { try owner.run(statement) }
            try await Fleet.trip(hosts)
            let lease = "SELECT coalesce(lease_host, 'nobody') || ' ' || changed::text FROM fleet.circuit"
            let turns = "SELECT count(*)::text FROM public.turn"
            try await Fleet.wait("all have had the right to probe, and nobody has it") {
                try look(turns) == "3" && look(lease).hasPrefix("nobody")
            }
            let rest = try look(lease)
            let commits = "SELECT xact_commit::text FROM pg_stat_database WHERE datname = current_database()"
            // PostgreSQL adds a connection's commits up to a second late: those of the many looks above are added now,
            // by servers before 15 with the next commit after that second.
            if try Int(look("SHOW server_version_num")) ?? 0 >= 150_000 {
                _ = try look("SELECT pg_stat_force_next_flush()")
            } else {
                try await Task.sleep(for: .milliseconds(1_100))
                _ = try look(lease)
            }
            let before = try Int(look(commits)) ?? 0
            let start = ContinuousClock.now
            try await Task.sleep(for: .seconds(3))
            let statements = try (Int(look(commits)) ?? 0) - before
            let passed = (ContinuousClock.now - start) / .seconds(1)
            print("3 idle links ran \(statements) statements in \(passed) s")
            // One a second each; the test's own looks are statements, too.
            #expect(statements > 0 && Double(statements) <= 3 * (passed + 1) + 4)
            #expect(try look(lease) == rest)
            // A first call on a host that has had its turn.
            var calls = 0
            let probed = try await Fleet.wait("a call is let through") {
                calls += 1
                return hosts[1].call()
            }
            print("the first call led to a probe after \(probed) s")
            #expect(calls > 1)
            try await Fleet.wait("all are closed") { hosts.allSatisfy { !$0.isOpen } }
        }
    }

    @Test func aProberWhoseLinkFreezesIsReplaced() async throws {
        let database = try await TestDatabase()
        let proxy = try await FleetProxy(to: database.server)
        let config = FleetHost.config()
        let frozen = try FleetHost(0, proxy.connection(to: database), config: config, Self.shortLease)
        let others = try (1...2).map { try FleetHost($0, database.connection, config: config, Self.shortLease) }
        let hosts = [frozen] + others
        try await Fleet.ending(hosts) {
            try await Fleet.wait("all are joined") { hosts.allSatisfy(\.isJoined) }
            try await Fleet.trip(hosts)
            let (begun, mayEnd, ended) = (Locked(false), Locked(false), Locked(false))
            Thread.detachNewThread {
                while !begun.withLock({ $0 }) {
                    frozen.call {
                        begun.withLock { $0 = true }
                        let patience = ContinuousClock.now + .hangLimit
                        while !mayEnd.withLock({ $0 }), ContinuousClock.now < patience { usleep(2_000) }
                        throw FleetHost.Down()
                    }
                }
                ended.withLock { $0 = true }
            }
            try await Fleet.wait("the host probes") { begun.withLock { $0 } }
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE lease_host = 'h0'") == 1)
            try await proxy.stall()
            try await Fleet.close(others)
            let generation = try database.number("SELECT generation FROM fleet.circuit WHERE state = 'closed'")
            #expect(generation > 0)
            #expect(frozen.breaker.state == .halfOpen)
            // The late verdict.
            mayEnd.withLock { $0 = true }
            try await Fleet.wait("the probe has ended") { ended.withLock { $0 } }
            try await proxy.go()
            try await Fleet.wait("the host is joined again") { frozen.isJoined }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(try database.number("SELECT generation FROM fleet.circuit WHERE state = 'closed'") == generation)
            #expect(others.allSatisfy { !$0.isOpen })
            try await Fleet.close(hosts)
            for host in others { #expect(try host.events(.tripped).count == 1) }
        }
    }

    @Test func aHostThatIsCutOffWhileOpenProbesByItself() async throws {
        let database = try await TestDatabase()
        let proxy = try await FleetProxy(to: database.server)
        let far = try FleetHost(0, proxy.connection(to: database), Self.shortLease)
        let near = try FleetHost(1, database.connection, Self.shortLease)
        try await Fleet.ending([far, near]) {
            try await Fleet.wait("both are joined") { far.isJoined && near.isJoined }
            let start = ContinuousClock.now
            try await Fleet.trip([far, near])
            let opened = ContinuousClock.now
            try await proxy.cut()
            try await Fleet.wait("the host probes by itself") { far.call() }
            let (most, least) = (ContinuousClock.now - start, ContinuousClock.now - opened)
            print("the host probed between \(least) and \(most) after it was open")
            // The fleet's end.
            #expect(most >= .seconds(1))
            #expect(!far.isOpen)
            try await proxy.go()
            // The host's own verdict counts for all: nobody else had the right to probe.
            try await Fleet.wait("the other is closed") { !near.isOpen }
            #expect(try near.events(.closed).map(\.by) == ["fleet"])
            #expect(try far.events(.tripped).count == 1)
        }
    }
}
#endif
