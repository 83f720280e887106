#if PostgreSQL
import BreakerFleetTestSupport
import Testing

@testable import BreakerFleet

@Suite(.timeLimit(.minutes(10))) struct ConnectionSettingsTests {
    @Test(arguments: [
        "password=my secret=word host", "host='unclosed", "postgresql://u:secret@[::1", "a\0b", "secret=1",
    ])
    func aMalformedStringIsNotRepeated(_ text: String) {
        let error = #expect(throws: FleetError.self) { try ConnectionSettings(parsing: text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("unclosed") == false)
    }

    @Test func theUsersWordsStand() throws {
        let settings = try ConnectionSettings(
            parsing: "host=db tcp_user_timeout=9 application_name=shop client_encoding=latin1")
        #expect(settings.servers.count == 1)
        func value(_ keyword: String) -> [String] {
            settings.servers[0].filter { $0.keyword == keyword }.map(\.value)
        }
        #expect(value("tcp_user_timeout") == ["9"])
        #expect(value("application_name") == ["shop"])
        #expect(value("keepalives_idle") == ["2"])
        // The one that is not theirs to choose.
        #expect(value("client_encoding") == ["UTF8"])
    }

    @Test(arguments: [
        ("host=a,b port=1,2", ["a:1", "b:2"]), ("host=a,b port=1", ["a:1", "b:1"]), ("host=a", ["a:"]),
        ("postgresql://a:1,b:2,c:3/x", ["a:1", "b:2", "c:3"]), ("host=a,b port=1,2,3", ["a,b:1,2,3"]), ("", [":"]),
    ]) func eachServerStandsForItself(_ text: String, _ expected: [String]) throws {
        let servers = try ConnectionSettings(parsing: text).servers.map { settings in
            ["host", "port"].map { command in settings.first { $0.keyword == command }?.value ?? "" }.joined(
                separator: ":")
        }
        #expect(servers == expected)
    }

    @Test func aPasswordIsInNoMessage() async throws {
        let database = try await TestDatabase()
        try database.connect().run(
            "DO $$ BEGIN CREATE ROLE secretive LOGIN PASSWORD 's3cret-word'; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        func connect(_ more: String) throws {
            let text = "host=127.0.0.1 port=\(database.server.port) dbname=\(database.name) \(more)"
            _ = try ServerConnection(ConnectionSettings(parsing: text), manner: .patient)
        }
        try connect("user=secretive password=s3cret-word")
        for more in [
            "user=secretive password=wr0ng-word", "user=secretive passfile=/absent",
            "user=wr0ng-word password=wr0ng-word dbname=wr0ng-word",
        ] {
            let error = #expect(throws: FleetError.self) { try connect(more) }
            #expect(error?.code == .refused, "\(String(describing: error))")
            #expect(error?.description.contains("wr0ng-word") == false)
            #expect(error?.description.contains("s3cret-word") == false)
        }
        let unknown = #expect(throws: FleetError.self) { try connect("user=postgres dbname=absent") }
        #expect(unknown?.code == .refused)
        #expect(unknown?.message.contains(".c:") == false)
    }

    @Test func theNextServerIsTriedWhenOneIsSilent() async throws {
        let database = try await TestDatabase()
        let silent = try await HostileServer(.silent)
        let text =
            "host=127.0.0.1,127.0.0.1 port=\(silent.port),\(database.server.port) dbname=\(database.name) user=postgres"
        let connection = try ServerConnection(
            ConnectionSettings(parsing: text), manner: .init(timeout: .seconds(2)))
        #expect(connection.isOpen)
    }
}
#endif
