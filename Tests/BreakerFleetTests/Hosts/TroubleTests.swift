#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// What is refused to a link is heard, on its host and on all others, and the link goes on with all else.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TroubleTests {
    /// Host 0 is linked by a role that lacks a right, host 1 by the owner.
    private static func withHosts(
        without right: String, _ body: ([FleetHost], Registers) async throws -> Void
    ) async throws {
        let database = try await TestDatabase()
        let owner = try database.connect()
        let role = "poor_\(database.name)"
        for statement in [
            "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA fleet TO \(role)",
            "GRANT ALL ON ALL TABLES IN SCHEMA fleet TO \(role)", "GRANT EXECUTE ON FUNCTION fleet.now() TO \(role)",
            "REVOKE \(right) FROM \(role)",
        ] { try owner.run(statement) }
        let poor = try FleetHost(0, database.server.connection(database: database.name, user: role))
        let rich = try FleetHost(1, database.connection)
        try await Fleet.ending([poor, rich]) { try await body([poor, rich], database.registers(host: "observer")) }
        try owner.run("DROP OWNED BY \(role)")
        try owner.run("DROP ROLE \(role)")
    }

    private static func waitForTrouble(_ command: String, of host: FleetHost, at registers: Registers) async throws {
        try await Fleet.wait("the host says so") {
            guard case .cutOff(_, let error) = host.link.health else { return false }
            return error.code == .refused && error.message.contains(command)
        }
        try await Fleet.wait("all are told") {
            try registers.hosts().contains { $0.name == host.name && $0.trouble?.hasPrefix(command) == true }
        }
        #expect(try registers.hosts().allSatisfy { $0.name == host.name || $0.trouble == nil })
    }

    @Test func aLinkThatMayNotSendItsFailuresObeys() async throws {
        try await Self.withHosts(without: "INSERT ON fleet.failure") { hosts, registers in
            let (poor, rich) = (hosts[0], hosts[1])
            try await Fleet.wait("the other is joined") { rich.isJoined }
            poor.fail(5)
            #expect(poor.isOpen)
            try await Self.waitForTrouble("can't send its failures", of: poor, at: registers)
            // Its host guards itself; the others hear nothing of it.
            #expect(!rich.isOpen)
            try synchronously { try rich.store.reset("api", by: "ann") }
            try await Fleet.wait("the reset is obeyed") { !poor.isOpen }
            try synchronously { try rich.store.hold("api", .open, by: "ann") }
            try await Fleet.wait("the hold is obeyed") { poor.isHeld }
        }
    }

    @Test func aLinkThatMayNotSendItsCommandsSaysSo() async throws {
        try await Self.withHosts(without: "UPDATE ON fleet.circuit") { hosts, registers in
            let (poor, rich) = (hosts[0], hosts[1])
            try await Fleet.wait("the other is joined") { rich.isJoined }
            try synchronously { try poor.store.hold("api", .open, by: "ann") }
            try await Self.waitForTrouble("can't send a change", of: poor, at: registers)
            #expect(!rich.isHeld)
            #expect(poor.isHeld)
        }
    }
}
#endif
