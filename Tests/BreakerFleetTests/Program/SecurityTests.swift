#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerFleet

/// What a link gives away, and to whom it speaks.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SecurityTests {
    @Test func aWrongPasswordIsNeverReported() async throws {
        let database = try await TestDatabase()
        try database.connect().run(
            "DO $$ BEGIN CREATE ROLE secretive LOGIN PASSWORD 's3cret-word'; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        let directory = try Directory.make("breakerstore-fleet")
        defer { Directory.remove(directory) }
        let store = try CircuitStore(path: directory + "/circuits.db", configuration: .patient)
        defer { store.close() }
        let command = "wr0ng-word"
        let passfile = directory + "/pgpass"
        try "*:*:*:*:\(command)\n".write(toFile: passfile, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: passfile)
        let connection = database.server.connection(database: database.name, user: "secretive")
        let environment = ["PGPASSFILE": passfile]
        let program = try FleetProcess(
            ["run", "--store", store.path, "--postgres", connection], environment: environment)
        try await Fleet.wait("the host is cut off") { program.errors.contains("cut off") }
        let status = try await FleetProcess.run(["status", "--postgres", connection], environment: environment)
        #expect(status.code == 1)
        #expect(status.errors.contains("password authentication failed"))
        let commandLine = try String(contentsOfFile: "/proc/\(program.pid)/cmdline", encoding: .utf8)
        let note = try String(contentsOfFile: store.path + "-link", encoding: .utf8)
        let history = try synchronously { try store.history(limit: 1_000) }.map { "\($0)" }.joined()
        let ended = try await program.end()
        for text in [commandLine, note, history, status.output, status.errors, ended.errors] {
            #expect(!text.contains(command))
        }
        #expect(note.hasPrefix("cutOff "))
        // The right one joins.
        try "*:*:*:*:s3cret-word\n".write(toFile: passfile, atomically: false, encoding: .utf8)
        try database.connect().run("GRANT ALL ON SCHEMA fleet TO secretive")
        try database.connect().run("GRANT ALL ON ALL TABLES IN SCHEMA fleet TO secretive")
        #expect(try await FleetProcess.run(["status", "--postgres", connection], environment: environment).code == 0)
        try database.connect().run("DROP OWNED BY secretive")
    }

    /// The rights that docs/fleet.sql names, and nothing else.
    @Test func theLinksRoleReadsNothingElse() async throws {
        let database = try await TestDatabase()
        let owner = try database.connect()
        let role = "link_of_\(database.name)"
        let grants = FleetServer.script.split(separator: "\n").filter {
            $0.hasPrefix("--     ") && !$0.contains("psql")
        }
        .map { $0.dropFirst(2) }.joined(separator: "\n").split(separator: ";")
        .map { String($0).replacing("breaker", with: role) }.filter { $0.contains("GRANT") }
        #expect(grants.count == 4)
        for statement in [
            "CREATE ROLE \(role) LOGIN", "CREATE SCHEMA shop", "CREATE TABLE shop.card (number text)",
            "CREATE TABLE public.card (number text)", "REVOKE ALL ON FUNCTION fleet.now() FROM PUBLIC",
        ] + grants { try owner.run(statement) }
        let connection = database.server.connection(database: database.name, user: role)
        try owner.run("REVOKE USAGE ON SCHEMA fleet FROM \(role)")
        let check = try await FleetProcess.run(["schema", "check", "--postgres", connection])
        #expect(check.code == 1)
        #expect(check.output == "the schema fleet is there\nmissing: USAGE on schema fleet\n")
        try owner.run("GRANT USAGE ON SCHEMA fleet TO \(role)")
        #expect(try FleetServer(connection: connection).missingRights().isEmpty)
        try Self.expectAll(of: database.registers(host: "a", as: role))
        let link = try database.connect(as: role)
        for statement in [
            "CREATE TABLE fleet.more (a int)", "DROP TABLE fleet.rate", "ALTER TABLE fleet.rate ADD a int",
            "UPDATE fleet.meta SET version = 2000",
            "CREATE OR REPLACE FUNCTION fleet.now() RETURNS bigint LANGUAGE sql AS 'SELECT 1'", "CREATE SCHEMA mine",
            "CREATE TABLE public.mine (a int)",
            "SELECT * FROM shop.card", "SELECT * FROM public.card", "DROP SCHEMA fleet CASCADE",
            "TRUNCATE fleet.circuit", "ALTER TABLE fleet.circuit OWNER TO \(role)",
            "SELECT pg_read_file('/etc/passwd')",
            "COPY fleet.circuit TO PROGRAM 'true'",
        ] {
            let error = #expect(throws: FleetError.self, "\(statement)") { try link.run(statement) }
            #expect(error?.code == .refused, "\(statement): \(error.debugDescription)")
        }
        // And with these rights two hosts share a circuit.
        let hosts = try (0..<2).map { try FleetHost($0, connection) }
        try await Fleet.ending(hosts) {
            try await Fleet.wait("all are joined") { hosts.allSatisfy(\.isJoined) }
            try await Fleet.trip(hosts)
            try await Fleet.close(hosts)
        }
        try owner.run("DROP OWNED BY \(role)")
        try owner.run("DROP ROLE \(role)")
    }

    /// All that a link asks of the server, for which it needs no right to change the schema.
    private static func expectAll(of registers: Registers) throws {
        try registers.checkSchema()
        try registers.listen()
        let link = Registers.Link(session: 1, file: "f", program: "p")
        _ = try registers.beat(link, rules: ["x": "r"], reading: ["x"])
        _ = try registers.differingRules()
        let generation = try registers.makeOpen("x", for: 0)
        try registers.push(new: [.init(circuit: "x", failure: .init(key: .init(worker: 1, number: 1), age: 0))])
        try registers.push(sums: [.init(circuit: "x")])
        _ = try registers.count([.init(circuit: "x")])
        for request in [
            Request.elect(generation: generation), .renew(generation: generation), .yield(generation: generation),
            .verdict(generation: generation, .closed, isElected: false),
            .send(try registers.command(.reset)), .send(try registers.command(.hold(.open, for: 5))),
            .offer(Register(name: "x", generation: 1 << 52, state: .closed, age: 0)),
        ] { #expect(try registers.perform(request, on: "x") != .refused) }
        try registers.sweep(having: ["x"], longestWindow: 1, forgetIdleAfter: 1)
        try registers.leave(link)
    }

    @Test func onlyTheRightServerIsSpokenTo() async throws {
        let server = try await PostgresServer()
        let database = try TestDatabase(on: server)
        let directory = try Directory.make("breakerstore-fleet")
        defer { Directory.remove(directory) }
        let own = try Certificates(in: directory + "/own")
        let strange = try Certificates(in: directory + "/strange")
        let owner = try database.connect()
        for (name, text) in [("server.crt", own.certificate), ("server.key", own.key)] {
            let file = "cat > \(name) && chmod 600 \(name)"
            try owner.run("COPY (SELECT unnest(string_to_array('\(text)', E'\\n'))) TO PROGRAM '\(file)'")
        }
        try owner.run("ALTER SYSTEM SET ssl = on")
        try await server.stop()
        try await server.start()
        func connection(_ authority: Certificates, host: String = "localhost") -> String {
            "host=\(host) hostaddr=127.0.0.1 port=\(server.port) dbname=\(database.name) user=postgres "
                + "sslmode=verify-full sslrootcert=\(authority.authority)"
        }
        let right = try ServerConnection(ConnectionSettings(parsing: connection(own)), manner: .patient)
        #expect(try right.run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").first?.flag(0) == true)
        for wrong in [connection(strange), connection(own, host: "elsewhere")] {
            let error = #expect(throws: FleetError.self) {
                _ = try ServerConnection(ConnectionSettings(parsing: wrong), manner: .patient)
            }
            #expect(error?.code == .unreachable, "\(error.debugDescription)")
        }
        let host = try FleetHost(0, connection(own))
        try await Fleet.ending([host]) { try await Fleet.wait("the host is joined") { host.isJoined } }
        await server.clear()
    }

    /// An authority of the test's own, and a certificate for `localhost` that the authority has signed.
    private struct Certificates {
        let authority: String
        let certificate: String
        let key: String

        init(in directory: String) throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.currentDirectoryURL = URL(fileURLWithPath: directory)
            process.arguments = [
                "-e", "-c",
                """
                exec 2>/dev/null
                ec='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
                openssl req -x509 $ec -keyout ca.key -out ca.crt -days 2 -subj /CN=authority
                openssl req -new $ec -keyout server.key -out server.csr -subj /CN=localhost
                echo subjectAltName=DNS:localhost >names
                openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt
                """,
            ]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            self.authority = directory + "/ca.crt"
            self.certificate = try String(contentsOfFile: directory + "/server.crt", encoding: .utf8)
            self.key = try String(contentsOfFile: directory + "/server.key", encoding: .utf8)
        }
    }
}
#endif
