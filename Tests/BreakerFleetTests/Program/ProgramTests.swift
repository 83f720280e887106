#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerFleet

/// `breaker-fleet` as a process: what it runs, what it tells, and what it ends with.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProgramTests {
    /// A store with a circuit, as a service of a host has it.
    private final class Service: Sendable {
        let directory: String
        let store: CircuitStore
        let breaker: CircuitBreaker
        var path: String { self.store.path }

        init(recovery: Duration = .seconds(60)) throws {
            self.directory = try Directory.make("breakerstore-fleet")
            self.store = try CircuitStore(path: self.directory + "/circuits.db", configuration: .patient)
            self.breaker = try self.store.breaker(FleetHost.config(recovery: recovery))
        }

        deinit {
            self.store.close()
            Directory.remove(self.directory)
        }

        func fail(_ count: Int) {
            for _ in 0..<count { try? self.breaker.run { () throws -> Void in throw FleetHost.Down() } }
        }
    }

    // MARK: - Help

    @Test(arguments: [
        "", "run", "status", "check", "reset", "hold", "release", "history", "forget", "schema", "completions", "help",
    ])
    func helpFitsATerminal(verb: String) async throws {
        let help = try await FleetProcess.run(["help", verb].filter { !$0.isEmpty })
        #expect(help.code == 0)
        #expect(help.output.contains("options of every verb:\n"))
        for line in help.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    // MARK: - Running

    @Test func joinsFilesUntilItIsToldToEnd() async throws {
        let database = try await TestDatabase()
        let services = try (0..<2).map { _ in try Service() }
        let files = services.flatMap { ["--store", $0.path] }
        let program = try FleetProcess(["run", "--host", "h", "--postgres", database.connection] + files)
        try await Fleet.wait("both are joined") { program.errors.components(separatedBy: ": joined").count == 3 }
        let options = ["--postgres", database.connection]
        #expect(try await FleetProcess.run(["check", "--host", "h"] + options).code == 0)
        #expect(try await FleetProcess.run(["check"] + files + options).code == 0)
        // One file of several that is outside, though the name of its host is joined.
        let outside = try Service()
        let alone = try await FleetProcess.run(["check", "--host", "h", "--store", outside.path] + options)
        #expect(alone.code == 5)
        #expect(alone.errors.contains("no link of '\(outside.path)' is joined"))
        let gone = try await FleetProcess.run(["check", "--store", outside.path + "-gone"] + options)
        #expect(gone.code == 5)
        #expect(gone.errors.contains("there is no store to read"), "\(gone.errors)")

        services[0].fail(3)
        services[1].fail(2)
        try await Fleet.wait("both are open") { services.allSatisfy { $0.breaker.state.isOpen } }
        let check = try await FleetProcess.run(["check", "--host", "h"] + options)
        #expect(check.code == 3)
        #expect(check.output == "api  open\n")
        let status = try await FleetProcess.run(["status"] + options)
        #expect(status.code == 0)
        for command in ["2 joined", "1 open", "h/1", "h/2", "api", "5 failures of 2 hosts"] {
            #expect(status.output.contains(command), "\(status.output)")
        }
        let json = try await FleetProcess.run(["status", "--json"] + options)
        let document = try #require(
            JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(
            (document["hosts"] as? [[String: Any]])?.compactMap { $0["health"] as? String } == ["joined", "joined"])
        #expect((document["circuits"] as? [[String: Any]])?.compactMap { $0["state"] as? String } == ["open"])

        // Held closed, it refuses no call.
        try synchronously { try services[0].store.hold("api", .closed, by: "ann") }
        while try await FleetProcess.run(["check"] + options).output != "api  held-closed\n" {}
        #expect(try await FleetProcess.run(["check"] + options).code == 0)
        try synchronously { try services[1].store.reset("api", by: "ann", reason: "all is well") }
        try await Fleet.wait("the reset has come") { services.allSatisfy { $0.breaker.state == .closed } }
        try await Fleet.wait("the reset is told") { program.errors.contains("is reset by ann: all is well") }
        let ended = try await program.end()
        #expect(ended.code == 0)
        // Not one line a heartbeat: joined, opened, reset and stopped for each file, one trip, one word of a person.
        let lines = ended.errors.split(separator: "\n")
        #expect(lines.count { $0.contains("trips on all hosts") } == 1, "\(ended.errors)")
        #expect(lines.count { $0.contains("is opened by the fleet") } == 2, "\(ended.errors)")
        #expect(lines.count <= 16, "\(ended.errors)")
        // Its links have said good-bye.
        let after = try await FleetProcess.run(["check", "--host", "h"] + options)
        #expect(after.code == 5)
        #expect(after.errors.contains("the link of 'h/1' has left, "), "\(after.errors)")
    }

    @Test func waitsForItsFileAndItsServer() async throws {
        let server = try await PostgresServer()
        let database = try TestDatabase(on: server)
        try await server.stop()
        let directory = try Directory.make("breakerstore-fleet")
        defer { Directory.remove(directory) }
        let path = directory + "/circuits.db"
        let program = try FleetProcess(["run", "--store", path, "--postgres", database.connection])
        try await Fleet.wait("the program waits") {
            program.errors.contains("can't use '\(path)': no store is there yet")
        }
        #expect(program.isRunning)
        let store = try CircuitStore(path: path, configuration: .patient)
        defer { store.close() }
        try await Fleet.wait("the host is cut off") { program.errors.contains("cut off") }
        guard case .reported(let note) = store.linkStanding else {
            Issue.record("nobody says that the link is cut off")
            return
        }
        #expect(!note.isJoined)
        let cutOff = try await FleetProcess.run(["check", "--postgres", database.connection])
        #expect(cutOff.code == 5)
        try await server.start()
        try await Fleet.wait("the host is joined") { program.errors.contains(": joined") }
        let ended = try await program.end()
        #expect(ended.code == 0)
        // A line for each kind of error, not for each try; a server that starts has errors of its own.
        #expect(ended.errors.components(separatedBy: "cut off").count <= 4, "\(ended.errors)")
        #expect(store.linkStanding == .none)
        await server.clear()
    }

    /// Only the link has the file open: no call of its own process notices that another file has taken the place.
    @Test func goesOnWithAFileThatTookThePlace() async throws {
        let database = try await TestDatabase()
        let directory = try Directory.make("breakerstore-fleet")
        defer { Directory.remove(directory) }
        let path = directory + "/circuits.db"
        func make(_ names: [String]) throws {
            let store = try CircuitStore(path: path, configuration: .patient)
            defer { store.close() }
            for name in names { _ = try store.breaker(FleetHost.config(name)) }
        }
        try make(["api"])
        let program = try FleetProcess(["run", "--store", path, "--host", "h", "--postgres", database.connection])
        let server = try FleetServer(connection: database.connection)
        func isJoined(circuits: Int) throws -> Bool {
            try server.status(of: "default").hosts.contains { $0.sendsHeartbeats && $0.circuits == circuits }
        }
        try await Fleet.wait("the file is joined") { try isJoined(circuits: 1) }
        for name in Directory.names(in: directory) { Directory.remove("\(directory)/\(name)") }
        try make(["api", "mail"])
        try await Fleet.wait("the new file is joined") { try isJoined(circuits: 2) }
        #expect(try await program.end().code == 0)
    }

    @Test func tellsItsManagerThatItIsReady() async throws {
        let directory = try Directory.make("breakerstore-fleet")
        defer { Directory.remove(directory) }
        // systemd's side of sd_notify(3): a socket that datagrams come to.
        let manager = try WorkerProcess(
            program: "/usr/bin/env",
            arguments: [
                "python3", "-c",
                """
                import socket, sys
                s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                s.bind(sys.argv[1])
                for line in sys.stdin:
                    print("ok" if line.strip() == "bound" else "ok word=" + s.recv(100).decode().replace("=", "-"), flush=True)
                """, directory + "/notify",
            ])
        defer { manager.clear() }
        try await manager.ask("bound")
        let program = try FleetProcess(
            ["run", "--store", directory + "/absent.db", "--postgres", "host=127.0.0.1 port=1"],
            environment: ["NOTIFY_SOCKET": directory + "/notify"])
        #expect(try await manager.ask("next")["word"] == "READY-1")
        #expect(try await program.end().code == 0)
        #expect(try await manager.ask("next")["word"] == "STOPPING-1")
    }

    /// The good-bye may never be answered.
    @Test func endsWhileTheServerIsStalled() async throws {
        let database = try await TestDatabase()
        let proxy = try await FleetProxy(to: database.server)
        let service = try Service()
        let program = try FleetProcess(["run", "--store", service.path, "--postgres", proxy.connection(to: database)])
        try await Fleet.wait("the host is joined") { program.errors.contains(": joined") }
        try await proxy.stall()
        #expect(try await program.end().code == 0)
    }

    /// One of each way in which a connection or a statement ends, all at once: most of the time is that of deadlines.
    @Test func aHostileServerCostsALinkAndNoProcess() async throws {
        var programs: [(HostileServer, Service, FleetProcess, connection: String)] = []
        let manners: [HostileServer.Manner] = [
            .silent, .garbage, .silentAtStatement, .closesAtStatement, .endlessRows, .errorWithoutFields,
        ]
        for manner in manners {
            let (server, service) = (try await HostileServer(manner), try Service())
            let connection = "host=127.0.0.1 port=\(server.port) user=u dbname=d sslmode=disable"
            let program = try FleetProcess(["run", "--store", service.path, "--postgres", connection])
            programs.append((server, service, program, connection))
        }
        for (_, _, program, _) in programs {
            try await Fleet.wait("the host is cut off") { program.errors.contains("cut off") }
        }
        let statuses = try programs.map { try FleetProcess(["status", "--postgres", $0.connection]) }
        for (status, (server, service, program, _)) in zip(statuses, programs) {
            let result = try await status.result()
            #expect(result.code == 1)
            #expect(result.errors.utf8.count < 4_000)
            // The host guards itself.
            service.fail(5)
            #expect(service.breaker.state.isOpen)
            #expect(program.isRunning)
            #expect(try await program.end().code == 0)
            withExtendedLifetime(server) {}
        }
    }

    // MARK: - The command line

    @Test(arguments: [
        (["run"], "no store is named"),
        (["run", "--store", "a", "--store", "a"], "a store is named twice"),
        (["run", "x"], "'run' takes no names"),
        (["run", "--store", "a", "--guard", "7"], "option '--guard' takes a duration, not '7'"),
        (["run", "--store", "a", "--guard", "2h"], "option '--guard' must be from 1 s to 1 h"),
        (["run", "--store", "a", "--lease", "0.1s"], "option '--lease' must be from 1 s to 10 min"),
        (["run", "--store", "a", "--minimum-hosts", "0"], "option '--minimum-hosts' must be from 1 to 10,000"),
        (["run", "--store", "a", "--minimum-hosts", "two"], "takes a number, not 'two'"),
        (["run", "--store", "a", "--host", "a\u{1}"], "option '--host' must be a text of"),
        (["run", "--store", "a", "--postgres", "host='"], "malformed"),
        (["run", "--store", "a", "--postgres", "password=geheim"], "holds a password"),
        (["status", "--postgres", "postgresql://u:geheim@h/d"], "holds a password"),
        (["history"], "'history' takes one circuit's name"), (["forget"], "'forget' needs a host's name"),
        (["reset"], "'reset' needs a circuit's name"), (["hold", "open"], "'hold' needs a circuit's name"),
        (["hold", "api"], "'hold' needs 'open' or 'closed' before the circuits"),
        (["schema"], "'schema' takes one of print, apply and check"),
        (["schema", "drop"], "'schema' takes one of print, apply and check"),
    ])
    func aWrongCommandLineIsReported(arguments: [String], complaint: String) async throws {
        let result = try await FleetProcess.run(arguments)
        #expect(result.code == 64)
        #expect(result.errors.contains(complaint), "\(result.errors)")
        #expect(!result.errors.contains("geheim"))
        #expect(result.output.isEmpty)
    }

    @Test(arguments: [
        ("GUARD", "7", "BREAKER_FLEET_GUARD takes a duration"),
        ("NO_LISTEN", "yes", "BREAKER_FLEET_NO_LISTEN takes 1 or 0"),
        ("MINIMUM_HOSTS", "0", "BREAKER_FLEET_MINIMUM_HOSTS must be from 1"),
        ("FLEET", "\u{1}", "BREAKER_FLEET_FLEET must be a text"),
        ("POSTGRES", "password=geheim", "BREAKER_FLEET_POSTGRES holds a password"),
    ])
    func aWrongVariableIsReported(name: String, value: String, complaint: String) async throws {
        let result = try await FleetProcess.run(
            ["run"], environment: ["BREAKER_FLEET_STORE": "a:b", "BREAKER_FLEET_\(name)": value])
        #expect(result.code == 64)
        #expect(result.errors.contains(complaint), "\(result.errors)")
    }

    @Test func theSchemaIsPrintedMadeAndChecked() async throws {
        let database = try await TestDatabase(withSchema: false)
        let server = ["--postgres", database.connection]
        #expect(try await FleetProcess.run(["schema", "print"]).output == FleetServer.script)
        let missing = try await FleetProcess.run(["schema", "check"] + server)
        #expect(missing.code == 1)
        #expect(missing.errors.contains("schema apply"))
        #expect(
            try await FleetProcess.run(["schema", "apply"] + server).output == "made the schema fleet, version 2.1\n")
        #expect(
            try await FleetProcess.run(["schema", "apply"] + server).output
                == "the schema fleet is there, version 2.1\n")
        #expect(try await FleetProcess.run(["schema", "check"] + server).code == 0)
    }
}
#endif
