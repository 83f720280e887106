#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTool
import Testing

@testable import BreakerFleet
@testable import breaker_fleet

/// `reset`, `hold` and `release`: what an operator commands at the server, all hosts obey.
@Suite(.timeLimit(.minutes(10))) struct ChangeTests {
    @Test func allHostsObey() async throws {
        try await Fleet.with(2) { hosts, database in
            let held = Answer(["hold", "open", "api", "--reason", "INC-1", "--for", "1h"], at: database)
            #expect(held.code == .done)
            #expect(held.output.hasPrefix("api  closed -> held-open for "), "\(held.output)")
            #expect(held.talk == "2 hosts joined\n", "\(held.talk)")
            try await Fleet.wait("all are held") { hosts.allSatisfy(\.isHeld) }
            for host in hosts {
                let hold = try #require(try host.snapshot()?.hold)
                #expect(hold.by == "fleet: ann" && hold.reason == "INC-1" && hold.state == .open)
                #expect(!host.call())
            }
            // Any host's operator replaces it, and the server's replaces that one's.
            try synchronously { try hosts[1].store.hold("api", .closed, by: "bob") }
            let registers = try database.registers(host: "observer")
            try await Fleet.wait("the server has it") { try registers.one("api")?.hold?.by == "bob" }
            let released = Answer(["release", "api", "api"], at: database)
            #expect(released.output == "api  held-closed -> closed\n", "\(released.output)")
            try await Fleet.wait("none is held") { !hosts.contains(where: \.isHeld) }
            #expect(Answer(["release", "api"], at: database).talk == "nothing there is held\n")
        }
    }

    @Test func aResetReachesOwnTrips() async throws {
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(3_600))) { hosts, database in
            hosts[0].fail(5)
            #expect(hosts[0].isOpen)
            let server = try FleetServer(connection: database.connection)
            try await Fleet.wait("it is reported") { try !server.status(of: "default").loneTrips.isEmpty }
            let reset = Answer(["reset", "api", "--as", "bob", "--reason", "fixed"], at: database)
            #expect(reset.output == "api  open on single hosts -> closed\n", "\(reset.output)")
            try await Fleet.wait("it is closed") { !hosts[0].isOpen }
            let event = try #require(try hosts[0].events(.reset).first)
            #expect(event.by == "fleet: bob" && event.reason == "fixed")
            // One that the fleet has opened, too.
            try await Fleet.trip(hosts)
            #expect(Answer(["reset", "api"], at: database).output == "api  open -> closed\n")
            try await Fleet.wait("all are closed") { !hosts.contains(where: \.isOpen) }
        }
    }

    private static func held(by who: String) async throws -> (TestDatabase, Registers) {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        _ = try registers.make("mail")
        _ = try registers.perform(
            .send(registers.command(.hold(.open, for: nil), age: 3 * 86_400_000_000, by: who, reason: "INC-1: wait")),
            on: "mail")
        return (database, registers)
    }

    @Test(arguments: [["reset", "mail"], ["hold", "closed", "mail"]])
    func asksBeforeItEndsAnothersHold(line: [String]) async throws {
        let (database, registers) = try await Self.held(by: "bob")
        func holder() throws -> String? { try registers.one("mail")?.hold?.by }
        let alone = Answer(line, at: database)
        #expect(alone.code == .usage && alone.talk.contains("mail is held open by bob for 3 d: INC-1: wait; to "))
        #expect(alone.talk.contains("give --yes to confirm"), "\(alone.talk)")
        let dry = Answer(line + ["--dry-run"], at: database)
        #expect(
            dry.code == .done && dry.talk == "dry run: nothing was changed\n" && dry.output.contains("held-open ->"))
        let declined = Answer(line, at: database, answering: "n")
        #expect(declined.code == .declined && declined.output.isEmpty)
        #expect(declined.talk.hasPrefix("mail is held open by bob for 3 d: INC-1: wait\n"), "\(declined.talk)")
        #expect(declined.talk.hasSuffix(" hold. Go on? [y/N] nothing was changed\n") || line[0] == "hold")
        #expect(try holder() == "bob")
        let accepted = Answer(line, at: database, answering: "y")
        #expect(accepted.code == .done && accepted.output.hasPrefix("mail  held-open -> "))
        #expect(try holder() == (line[0] == "hold" ? "ann" : nil))
    }

    @Test func doesNotAskAboutItsOwnHoldNorWithYes() async throws {
        let (database, registers) = try await Self.held(by: "ann")
        #expect(Answer(["hold", "closed", "mail"], at: database).code == .done)
        #expect(try registers.one("mail")?.hold?.hold == .closed)
        let (other, others) = try await Self.held(by: "bob")
        #expect(Answer(["reset", "mail", "--yes"], at: other).code == .done)
        #expect(try others.one("mail")?.hold == nil)
    }

    /// While somebody thinks, another operator gives a command: it is not replaced.
    @Test func aCommandThatCameFirstStays() async throws {
        let (database, registers) = try await Self.held(by: "bob")
        let answer = Answer(["hold", "closed", "mail"], at: database, answering: "y") {
            _ = try registers.perform(.send(registers.command(.hold(.open, for: nil), by: "cid")), on: "mail")
        }
        #expect(answer.code == .failed && answer.output.isEmpty)
        #expect(answer.talk.contains("an operator has just changed 'mail', so it was left alone"), "\(answer.talk)")
        #expect(try registers.one("mail")?.hold?.by == "cid")
    }

    /// A command with a stamp ahead of the server's clock, as after that clock was set back, is older all the same.
    @Test func isNewerThanWhatTheServerHas() async throws {
        let (database, registers) = try await Self.held(by: "ann")
        try registers.set("hold_said = fleet.now() + 3600000000", of: "mail")
        #expect(Answer(["reset", "mail"], at: database).code == .done)
        #expect(try registers.one("mail")?.hold == nil)
        // What is damaged keeps nobody from a command.
        try registers.set("hold = 'open', hold_said = 9000000000000000, hold_number = 1", of: "mail")
        #expect(try registers.one("mail")?.damagedCommands == [.hold])
        #expect(Answer(["hold", "closed", "mail"], at: database).code == .done)
        #expect(try registers.one("mail")?.hold?.hold == .closed)
    }

    @Test func aMissingNameChangesNothing() async throws {
        let (database, registers) = try await Self.held(by: "ann")
        let answer = Answer(["reset", "mail", "mial"], at: database)
        #expect(answer.code == .noSuchCircuit && answer.output.isEmpty)
        #expect(answer.talk.contains("the fleet 'default' has no circuit 'mial'\nhint: did you mean 'mail'?"))
        #expect(try registers.one("mail")?.hold?.by == "ann")
        #expect(try registers.one("mail")?.command(.reset) == nil)
    }
}
#endif
