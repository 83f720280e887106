#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// Hosts guard themselves while the server is away, and are joined again by themselves.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CutOffTests {
    private static func guardOfASecond(_ configuration: inout FleetLink.Configuration) {
        configuration.guardTime = .seconds(1)
        configuration.lease = .seconds(1)
    }

    @Test func aStalledNetworkCutsOneHostOff() async throws {
        let database = try await TestDatabase()
        let proxy = try await FleetProxy(to: database.server)
        let far = try FleetHost(0, proxy.connection(to: database))
        let near = try FleetHost(1, database.connection)
        try await Fleet.ending([far, near]) {
            try await Fleet.wait("both are joined") { far.isJoined && near.isJoined }
            try await proxy.stall()
            var calls = 0
            let noticed = try await Fleet.wait("the host is cut off") {
                calls += far.call() ? 1 : 0
                return far.isCutOff
            }
            print("a stalled network was noticed after \(noticed) s, during \(calls) calls")
            #expect(calls > 0)
            far.fail(5)
            #expect(far.isOpen)
            #expect(try far.events(.tripped).map(\.by) == [nil])
            try await proxy.go()
            let joined = try await Fleet.wait("the host is joined again") { far.isJoined }
            print("joined \(joined) s after the network came back")
            #expect(!near.isOpen)
            try await Fleet.close([far, near])
            try await Fleet.wait("the failures are forgotten") {
                try database.number("SELECT count(*) FROM fleet.failure") == 0
            }

            try await proxy.cut()
            try await Fleet.wait("the host is cut off") { far.isCutOff }
            near.fail(5)
            try await proxy.go()
            try await Fleet.wait("the host is joined again") { far.isJoined }
            #expect(!far.isOpen)
            try await Fleet.close([far, near])
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE state = 'open'") == 0)
        }
    }

    @Test func aServerThatIsKilledWhileTheFleetIsOpen() async throws {
        let server = try await PostgresServer()
        let database = try TestDatabase(on: server)
        let config = FleetHost.config(recovery: .seconds(2))
        let hosts = try (0..<3).map { number in
            try FleetHost(number, database.connection, config: config, Self.guardOfASecond)
        }
        try await Fleet.ending(hosts) {
            try await Fleet.wait("all are joined") { hosts.allSatisfy(\.isJoined) }
            let start = ContinuousClock.now
            try await Fleet.trip(hosts)
            let opened = ContinuousClock.now
            try await server.kill9()
            var probed: [Int: (least: Duration, most: Duration)] = [:]
            try await Fleet.wait("each host probes by itself") {
                for (number, host) in hosts.enumerated() where probed[number] == nil && host.call() {
                    probed[number] = (ContinuousClock.now - opened, ContinuousClock.now - start)
                }
                return probed.count == hosts.count
            }
            for (number, times) in probed {
                print("host \(number) probed between \(times.least) and \(times.most) after it was open")
                #expect(times.most >= .seconds(2))
            }
            #expect(hosts.allSatisfy { !$0.isOpen })
            try await Fleet.wait("all are cut off") { hosts.allSatisfy(\.isCutOff) }
            try await server.start()
            let joined = try await Fleet.wait("all are joined again") { hosts.allSatisfy(\.isJoined) }
            print("all were joined \(joined) s after the server was there again")
            try await Fleet.wait("the register is closed") {
                try database.number("SELECT count(*) FROM fleet.circuit WHERE state = 'closed'") == 1
            }
            try await Task.sleep(for: .milliseconds(1_200))
            for host in hosts {
                #expect(!host.isOpen)
                #expect(try host.events(.tripped).count == 1)
                #expect(try host.events(.closed).count == 1)
            }
        }
        await server.clear()
    }

    @Test func aServerThatIsAbsentAtFirst() async throws {
        let server = try await PostgresServer()
        let database = try TestDatabase(on: server)
        try await server.stop()
        let hosts = try (0..<2).map { try FleetHost($0, database.connection) }
        try await Fleet.ending(hosts) {
            try await Fleet.wait("both are cut off") { hosts.allSatisfy(\.isCutOff) }
            #expect(hosts[0].call())
            hosts[1].fail(2)
            try await server.start()
            let joined = try await Fleet.wait("both are joined") { hosts.allSatisfy(\.isJoined) }
            print("both were joined \(joined) s after the server was there")
            // What happened before counts.
            hosts[0].fail(3)
            try await Fleet.wait("both are open") { hosts.allSatisfy(\.isOpen) }
            try await Fleet.close(hosts)
        }
        await server.clear()
    }

    @Test func aSlowServerStillJoinsHosts() async throws {
        let database = try await TestDatabase()
        let proxy = try await FleetProxy(to: database.server)
        try await proxy.delay(milliseconds: 250)
        let hosts = try (0..<2).map { try FleetHost($0, proxy.connection(to: database)) }
        try await Fleet.ending(hosts) {
            try await Fleet.wait("both are joined") { hosts.allSatisfy(\.isJoined) }
            try await Fleet.trip(hosts)
            try await Fleet.close(hosts)
            for host in hosts {
                #expect(!host.wasCutOff)
                #expect(try host.events(.tripped).count == 1)
            }
        }
    }

    @Test func aServerThatCantBeWrittenToIsNone() async throws {
        try await Fleet.with(2) { hosts, database in
            let owner = try database.connect()
            try owner.run("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
            try owner.endOthers()
            try await Fleet.wait("both are cut off") { hosts.allSatisfy(\.isCutOff) }
            try owner.run("ALTER DATABASE \(database.name) RESET default_transaction_read_only")
            try await Fleet.wait("both are joined") { hosts.allSatisfy(\.isJoined) }
        }
    }
}
#endif
