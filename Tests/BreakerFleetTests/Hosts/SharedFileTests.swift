#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerFleet

/// Several links on one file, and files that change beneath their link.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SharedFileTests {
    @Test func aSecondLinkTakesOver() async throws {
        let database = try await TestDatabase()
        let first = try FleetHost(0, database.connection)
        let other = try FleetHost(1, database.connection)
        try await Fleet.wait("the first is joined") { first.isJoined && other.isJoined }
        let second = try FleetHost(0, database.connection, in: first.directory)
        try await Fleet.ending([second, other, first]) {
            try await Fleet.wait("the second stands by") { second.link.health == .standby }
            first.fail(3)
            other.fail(2)
            try await Fleet.wait("all are open") { [first, second, other].allSatisfy(\.isOpen) }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(second.link.health == .standby)
            #expect(first.isJoined)
            first.link.close()
            let joined = try await Fleet.wait("the second leads") { second.isJoined }
            print("the second link led after \(joined) s")
            #expect(!second.wasCutOff)
            try await Fleet.close([second, other])
            #expect(try second.events(.tripped).count == 1)
            #expect(try second.events(.closed).count == 1)
            #expect(try other.events(.tripped).count == 1)
            // What the second link tells counts once.
            second.fail(2)
            other.fail(2)
            try await Fleet.wait("4 failures are told") {
                try database.number("SELECT count(*) FROM fleet.failure") == 4
            }
            other.fail(1)
            try await Fleet.wait("all are open") { [second, other].allSatisfy(\.isOpen) }
            #expect(try second.events(.tripped).count == 2)
        }
    }

    /// Somebody has given two files one host's name: the second stays outside, and takes nothing of the first away.
    @Test func anotherFileOfTheSameNameErasesNothing() async throws {
        let database = try await TestDatabase()
        let first = try FleetHost(0, database.connection)
        let other = try FleetHost(1, database.connection)
        try await Fleet.wait("both are joined") { first.isJoined && other.isJoined }
        first.fail(3)
        func told() throws -> Int64? { try database.number("SELECT count(*) FROM fleet.failure WHERE host = 'h0'") }
        try await Fleet.wait("3 failures are told") { try told() == 3 }
        let twin = try FleetHost(0, database.connection)
        try await Fleet.ending([other, first]) {
            try await Fleet.wait("the twin has been refused") {
                if case .cutOff(_, let error) = twin.link.health { error.code == .duplicateHost } else { false }
            }
            #expect(try told() == 3)
            await twin.end()
            #expect(try told() == 3)
            other.fail(2)
            try await Fleet.wait("all are open") { first.isOpen && other.isOpen }
        }
    }

    @Test func aForgottenCircuitLearnsThatTheFleetIsOpen() async throws {
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(4))) { hosts, database in
            try await Fleet.trip(hosts)
            let generation = try database.number("SELECT generation FROM fleet.circuit")
            try synchronously { try hosts[0].store.forget("api") }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(try hosts[0].snapshot() == nil)
            #expect(hosts[1].isOpen)
            // The first failure registers the circuit again.
            hosts[0].fail()
            try await Fleet.wait("the new circuit is open") { hosts[0].isOpen }
            #expect(try database.number("SELECT generation FROM fleet.circuit") == generation)
            try await Fleet.close(hosts)
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE state = 'closed'") == 1)
        }
    }

    @Test func aFileThatIsReplacedIsOpenUntilTheFleetCloses() async throws {
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(4))) { hosts, database in
            try await Fleet.trip(hosts)
            for name in Directory.names(in: hosts[0].directory) where !name.hasSuffix("-lock") {
                Directory.remove("\(hosts[0].directory)/\(name)")
            }
            let config = FleetHost.config(recovery: .seconds(4))
            try await Fleet.wait("the new file's circuit is open") {
                _ = try? synchronously { try hosts[0].store.breaker(config) }
                return try (try? hosts[0].snapshot())?.map { $0.state.isOpen } ?? false
                    && !hosts[0].events(.stateRestored).isEmpty
            }
            try await Fleet.close(hosts)
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(hosts.allSatisfy { !$0.isOpen && $0.isJoined })
            #expect(try hosts[1].events(.tripped).count == 1)
            // The open state came from the file that was removed: the fleet had nothing to command.
            #expect(try hosts[0].events(.tripped).isEmpty)
        }
    }

    /// A host whose file can't be used has nothing to join.
    @Test func aFileThatIsAwayCutsItsHostOff() async throws {
        try await Fleet.with(1) { hosts, _ in
            let path = hosts[0].store.path
            let files = ["", "-wal", "-shm"].map { path + $0 }
            // A folder in its place: nobody can make a new file there.
            for file in files { try FileManager.default.moveItem(atPath: file, toPath: file + ".away") }
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try await Fleet.wait("the host is cut off") { hosts[0].isCutOff }
            guard case .cutOff(_, let error) = hosts[0].link.health else { return }
            #expect(error.code == .unavailable)
            Directory.remove(path)
            for file in files { try FileManager.default.moveItem(atPath: file + ".away", toPath: file) }
            try await Fleet.wait("the host is joined again") { hosts[0].isJoined }
        }
    }

    @Test func anOwnTripOutlivesAFleetsClose() async throws {
        try await Fleet.with(3, config: FleetHost.config(recovery: .seconds(30))) { hosts, database in
            hosts[0].fail(5)
            hosts[1].fail()
            try await Fleet.wait("all are open") { hosts.allSatisfy(\.isOpen) }
            try synchronously { try hosts[2].store.probe("api", by: "ann") }
            // A probe that ends before the server has heard of it is told when the fleet's own time is over.
            try await Fleet.wait("the right to probe is the operator's host's") {
                try database.number("SELECT count(*) FROM fleet.circuit WHERE lease_host = 'h2'") == 1
            }
            try await Fleet.wait("the service is found well") { hosts[2].call() }
            try await Fleet.wait("the others are closed") { !hosts[1].isOpen && !hosts[2].isOpen }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(hosts[0].isOpen)
            #expect(try hosts[0].events(.tripped).map(\.by) == [nil])
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE state = 'closed'") == 1)
            // The host finds out by itself.
            hosts[0].fail()
            #expect(hosts[0].isOpen)
            #expect(!hosts[1].isOpen)
        }
    }
}
#endif
