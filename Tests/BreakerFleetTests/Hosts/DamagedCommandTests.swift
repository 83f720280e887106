#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// A command that is dated far after the server's time can't be beaten: it is damage, wherever it is found.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DamagedCommandTests {
    /// The latest time that 0.5.0 sends, in the year 2255.
    private static let latest = "9007199253692416"

    private static func isHeld(_ host: FleetHost, _ state: HoldState, by who: String) throws -> Bool {
        try host.snapshot()?.hold.map { $0.state == state && $0.by?.hasSuffix(who) == true } ?? false
    }

    /// A program with the role of the links has written the command.
    @Test(arguments: [Self.latest, "9007199254740993", "fleet.now() + 2 * 31622400000000", "-1"])
    func isNotTakenOverFromTheServer(time: String) async throws {
        let news = Locked<[String]>([])
        @Sendable func hear(_ configuration: inout FleetLink.Configuration) {
            configuration.onNews = { item in news.withLock { $0.append(item.description) } }
        }
        try await Fleet.with(2, hear) { hosts, database in
            try ReadingTests.dropChecks(database.connect())
            for kind in ["hold", "reset"] {
                try database.connect().run(
                    """
                    UPDATE fleet.circuit SET \(kind)_said = \(time), \(kind)_number = 5, \(kind)_by = 'mallory', hold = 'open',
                    changed = pg_current_xact_id()
                    """)
            }
            try await Fleet.wait("both logs say so") {
                news.withLock { $0.count { $0.contains("a reset at the server with an invalid date") } == 2 }
            }
            #expect(news.withLock { $0.count { $0.contains("a hold at the server with an invalid date") } == 2 })
            #expect(hosts.allSatisfy { !$0.isHeld && $0.isJoined })
            #expect(try hosts.allSatisfy { try $0.events(.reset).isEmpty })
            // It keeps no host from probing.
            try await Fleet.trip(hosts)
            try await Fleet.close(hosts)
            // What operators say takes its place.
            try synchronously { try hosts[0].store.hold("api", .closed, by: "ann") }
            try await Fleet.wait("the hold is there") { try Self.isHeld(hosts[1], .closed, by: "ann") }
            try synchronously { try hosts[1].store.release("api", by: "bob") }
            try await Fleet.wait("the hold is over") { hosts.allSatisfy { !$0.isHeld } }
            hosts[1].fail()
            try synchronously { try hosts[0].store.reset("api", by: "ann") }
            try await Fleet.wait("both are reset") { try hosts.allSatisfy { try $0.events(.reset).count == 1 } }
            let damaged = "hold_said > fleet.now() + 1000000 OR reset_said > fleet.now() + 1000000"
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE \(damaged)") == 0)
            #expect(hosts.allSatisfy { $0.isJoined && !$0.wasCutOff })
        }
    }

    /// The server's clock was two years ahead when an operator gave a command, and was set right since.
    @Test func inAFileIsReportedUntilACommandTakesItsPlace() async throws {
        try await Fleet.with(2) { hosts, database in
            let server = ["--postgres", database.connection]
            try database.setClock(ahead: 2 * 31_622_400)
            try await Fleet.wait("the links know the time") {
                let later = "extract(epoch FROM now()) * 1000000 + 31622400000000"
                return try database.number("SELECT count(*) FROM fleet.link WHERE beat > \(later)") == 2
            }
            try synchronously { try hosts[0].store.hold("api", .open, by: "ann") }
            try await Fleet.wait("both are held") { hosts.allSatisfy(\.isHeld) }
            try database.setClock(ahead: 0)
            for host in hosts {
                try await Fleet.wait("the host says so") {
                    guard case .cutOff(_, let error) = host.link.health else { return false }
                    return error.message.contains("does not send the hold of 'api' by 'ann'")
                }
                guard case .reported(let note) = host.store.linkStanding else {
                    Issue.record("breaker-inspect does not see it")
                    continue
                }
                #expect(!note.isJoined && note.reason.contains("does not send the hold of 'api'"), "\(note)")
                try await Fleet.wait("check says so") {
                    try database.number(
                        "SELECT count(*) FROM fleet.link WHERE trouble IS NOT NULL AND host = '\(host.name)'") == 1
                }
                let check = try await FleetProcess.run(["check", "--host", host.name] + server)
                #expect(check.code == 5)
                #expect(check.errors.contains("does not send the hold of 'api' by 'ann'"), "\(check.errors)")
            }
            let status = try await FleetProcess.run(["status"] + server).output
            #expect(status.contains("fleet default: 0 joined, 2 cut off, 1 circuit"), "\(status)")
            #expect(status.contains("  the link does not send the hold of 'api' by 'ann'"), "\(status)")

            // No host sends it back to a server that has lost it.
            let owner = try database.connect()
            try owner.run("DELETE FROM fleet.circuit")
            try owner.endOthers()
            try await Fleet.wait("the register is there again") {
                try database.number("SELECT count(*) FROM fleet.circuit") == 1
            }
            try await Task.sleep(for: .milliseconds(1_200))
            #expect(try database.number("SELECT count(hold_said) FROM fleet.circuit") == 0)

            try synchronously { try hosts[1].store.release("api", by: "bob") }
            try await Fleet.wait("the hold is over") { hosts.allSatisfy { !$0.isHeld } }
            try await Fleet.wait("all is well") { hosts.allSatisfy(\.isJoined) }
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE hold_said < fleet.now()") == 1)
        }
    }
}
#endif
