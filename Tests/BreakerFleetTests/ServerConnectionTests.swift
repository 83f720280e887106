#if PostgreSQL
import BreakerFleetTestSupport
import BreakerTestSupport
import Testing

@testable import BreakerFleet

@Suite(.timeLimit(.minutes(10))) struct ServerConnectionTests {
    @Test func runsStatements() async throws {
        let connection = try await TestDatabase(withSchema: false).connect()
        let texts = ["plain", "with 'quotes' and \"more\"", "back\\slash, {braces}", "ünïcode \u{1F600}", "NULL", ""]
        let rows = try connection.run("SELECT unnest($1::text[]), $2, 1", [ServerText.array(texts), nil])
        #expect(rows.map { $0.text(0) } == texts)
        #expect(rows.allSatisfy { $0.text(1) == nil && $0.number(2) == 1 && $0.text(3) == nil })
        #expect(try connection.run("SELECT $1", ["a\0b"]).first?.text(0) == "a\u{FFFD}b")
    }

    @Test func setsTheSessionUp() async throws {
        let database = try await TestDatabase(withSchema: false)
        func setting(_ name: String, _ manner: ServerConnection.Manner) throws -> String? {
            try database.connect(manner: manner).run("SELECT current_setting($1)", [name]).first?.text(0)
        }
        let own = ServerConnection.Manner(timeout: .seconds(4))
        #expect(try setting("statement_timeout", own) == "3s")
        #expect(try setting("lock_timeout", own) == "1500ms")
        #expect(try setting("application_name", own) == "breaker-fleet")
        #expect(try setting("search_path", own) == "pg_catalog, pg_temp")
        let lent = ServerConnection.Manner(timeout: .seconds(4), hasOwnSession: false)
        #expect(try setting("statement_timeout", lent) == "0")
    }

    @Test func aStatementThatIsRefusedLeavesTheConnection() async throws {
        let connection = try await TestDatabase(withSchema: false).connect()
        let error = #expect(throws: FleetError.self) { try connection.run("SELECT 'secret-value'::text::bigint") }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("22P02") == true)
        #expect(try connection.run("SELECT 2").first?.number(0) == 2)
    }

    @Test(arguments: [
        ("SELECT * FROM fleet.absent", FleetError.Code.wrongSchema), ("SELECT fleet.absent()", .wrongSchema),
        ("SELECT 1 / 0", .unavailable), ("SELECT nonsense FROM", .unavailable),
    ]) func namesWhatAServerRefuses(_ statement: String, _ code: FleetError.Code) async throws {
        let connection = try await TestDatabase().connect()
        let error = #expect(throws: FleetError.self) { try connection.run(statement) }
        #expect(error?.code == code)
    }

    @Test func aStatementEndsAtTheDeadline() async throws {
        let database = try await TestDatabase(withSchema: false)
        // The statements sleep for longer than the test may take. The server's own deadline leaves the connection.
        let connection = try database.connect(manner: .init(timeout: .milliseconds(800)))
        let late = #expect(throws: FleetError.self) { try connection.run("SELECT pg_sleep(3600)") }
        #expect(late?.code == .timedOut)
        #expect(connection.isOpen)
        // This end's deadline, which the server does not know of.
        let lent = try database.connect(manner: .init(timeout: .milliseconds(400), hasOwnSession: false))
        let closed = #expect(throws: FleetError.self) { try lent.run("SELECT pg_sleep(3600)") }
        #expect(closed?.code == .timedOut)
        #expect(!lent.isOpen)
        #expect(#expect(throws: FleetError.self) { try lent.run("SELECT 1") }?.code == .unreachable)
    }

    @Test func anAnswerIsBounded() async throws {
        let database = try await TestDatabase(withSchema: false)
        let few = try database.connect(manner: .init(timeout: .hangLimit, bounds: .init(rows: 1_000)))
        #expect(try few.run("SELECT generate_series(1, 1000)").count == 1_000)
        let rows = #expect(throws: FleetError.self) { try few.run("SELECT generate_series(1, 1001)") }
        #expect(rows?.code == .unavailable)
        #expect(!few.isOpen)
        let short = try database.connect(manner: .init(timeout: .hangLimit, bounds: .init(bytes: 1 << 20)))
        #expect(try short.run("SELECT repeat('x', 500000)").first?.text(0)?.utf8.count == 500_000)
        let bytes = #expect(throws: FleetError.self) { try short.run("SELECT repeat('x', 20000000)") }
        #expect(bytes?.code == .unavailable)
        #expect(!short.isOpen)
    }

    @Test func waitsForNotificationsAndForItsOwner() async throws {
        let database = try await TestDatabase(withSchema: false)
        let listener = try database.connect(manner: .init(timeout: .hangLimit, bounds: .init(notifications: 3)))
        let other = try database.connect()
        let wakeUp = try WakeUp()
        try listener.run("LISTEN fleet")
        try other.run("SELECT pg_notify('fleet', 'a')")
        #expect(try listener.wait(for: .hangLimit, orWoken: wakeUp) == .server)
        #expect(listener.drainNotifications() == ["a"])
        #expect(try listener.wait(for: .milliseconds(1), orWoken: wakeUp) == .time)
        wakeUp.wake()
        wakeUp.wake()
        #expect(try listener.wait(for: .hangLimit, orWoken: wakeUp) == .owner)
        #expect(try listener.wait(for: .milliseconds(1), orWoken: wakeUp) == .time)
        // Those that come beside an answer are kept, and too many become one that names nothing.
        try other.run("SELECT pg_notify('fleet', number::text) FROM generate_series(1, 9) AS number")
        try listener.run("SELECT 1")
        while listener.notifications.count < 4, try listener.wait(for: .hangLimit, orWoken: wakeUp) == .server {}
        #expect(listener.drainNotifications() == ["1", "2", "3", ""])
    }

    @Test func noticesThatTheServerIsGone() async throws {
        let server = try await PostgresServer()
        let settings = try ConnectionSettings(parsing: server.connection())
        let connection = try ServerConnection(settings, manner: .patient)
        try await server.kill9()
        let error = #expect(throws: FleetError.self) {
            while true { _ = try connection.wait(for: .hangLimit, orWoken: WakeUp()) }
        }
        #expect(error?.code == .unreachable)
        #expect(#expect(throws: FleetError.self) { try ServerConnection(settings) }?.code == .unreachable)
        try await server.start()
        #expect(try ServerConnection(settings, manner: .patient).run("SELECT 1").count == 1)
        try await server.stop()
        await server.clear()
    }
}
#endif
