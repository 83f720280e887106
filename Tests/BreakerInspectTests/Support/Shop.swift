import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

struct Boom: Error {}

/// A store in a directory of its own, with a clock that the test moves.
final class Shop {
    let directory: URL
    let path: String
    let clock: any HostClock
    let configuration: CircuitStore.Configuration
    let store: CircuitStore

    /// - Parameters:
    ///   - clock: real processes need the system's.
    ///   - busyTimeout: by default two minutes: a busy machine's disk may take longer than a service waits.
    init(clock: any HostClock = ManualHostClock(), busyTimeout: Duration = .hangLimit) throws {
        self.directory = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
        self.path = self.directory.appendingPathComponent("shop.db").path
        self.clock = clock
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.busyTimeout = busyTimeout
        self.configuration = configuration
        self.store = try CircuitStore(path: self.path, configuration: configuration)
    }

    /// A closed store of an older schema, as `Tests/Fixtures` has it.
    init(of version: String) throws {
        self.directory = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
        self.path = self.directory.appendingPathComponent("shop.db").path
        self.clock = ManualHostClock()
        self.configuration = CircuitStore.Configuration()
        var configuration = CircuitStore.Configuration()
        configuration.access = .readOnly
        try Self.make(version, at: self.path)
        self.store = try CircuitStore(path: self.path, configuration: configuration)
    }

    /// Makes a file of an older schema, as `Tests/Fixtures` has it.
    static func make(_ version: String, at path: String) throws {
        let support = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let tests = support.deletingLastPathComponent().deletingLastPathComponent()
        for each in ["2.0", "2.1"] where each <= version {
            let dump = tests.appendingPathComponent("Fixtures/schema-\(each).sql").path
            let program =
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(open(sys.argv[2]).read())"
            let made = try Child.shell("exec python3 -c '\(program)' \"$BREAKER_STORE\" '\(dump)'", store: path)
            guard made.code == 0 else { throw SystemError("make \(path): \(made.talk)") }
        }
    }

    deinit {
        self.store.close()
        try? FileManager.default.removeItem(at: self.directory)
    }

    /// A circuit that trips at two failures within a minute, with so many of them.
    @discardableResult
    func circuit(
        _ name: String, group: String? = nil, failures: Int = 0, error: String = "HTTPError", recovery: Int = 30
    ) throws -> CircuitBreaker {
        var calls = CallPolicy()
        calls.describe = { _ in error }
        let breaker = try self.store.breaker(
            .init(
                name: name, group: group, recoveryTimeout: .seconds(recovery), maxFailures: 2,
                rollingWindow: .seconds(60)),
            calls: calls)
        for _ in 0..<failures { breaker.recordFailure(Boom()) }
        return breaker
    }

    /// Changes the file behind the back of the library; no store may have it open.
    static func sqlite(_ path: String, _ statements: String) throws {
        let program = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()"
        let result = try Child.shell("exec python3 -c '\(program)' \"$BREAKER_STORE\" \"\(statements)\"", store: path)
        guard result.code == 0 else { throw SystemError("run \(statements): \(result.talk)") }
    }

    /// Copies the only circuit, behind the back of the library; the store must be closed.
    ///
    /// - Parameter name: an expression of SQL, in which `i` is a number from 0.
    func copyCircuit(times count: Int, named name: String) throws {
        let columns = """
            incarnation, group_name, mode, rules, window_generation, state, since, epoch, open_until, successes, trips,
            last_error, registered
            """
        try Self.sqlite(
            self.path,
            """
            WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(count))
            INSERT INTO circuit (name, \(columns)) SELECT \(name), \(columns) FROM circuit, n;
            UPDATE circuit SET incarnation = incarnation / 2 + id;
            """)
    }

    /// One circuit of each state, but for half-open, which needs a call under way.
    func fillWithStates() throws {
        try self.circuit("a closed", group: "shop", failures: 1, error: "503 from upstream")
        try self.circuit("b open", group: "shop", failures: 2, error: "connection refused by 10.0.0.1:443")
        try self.circuit("d held open")
        try self.circuit("e held closed")
        try self.store.hold("d held open", .open, for: .seconds(7_200), by: "bob", reason: "moving")
        try self.store.hold("e held closed", .closed, by: "bob")
    }

    /// Runs the tool on this store.
    func inspect(
        _ arguments: String..., on console: RecordingConsole = RecordingConsole()
    ) -> (code: ExitCode, output: String, talk: String) {
        self.inspect(arguments: arguments, on: console)
    }

    /// The row of a circuit in the list, by the titles of the columns.
    func row(_ name: String) throws -> [String: String] {
        let lines = self.inspect("list").output.split(separator: "\n")
        let titles = try #require(lines.first).split(separator: " ").map { String($0) }
        let cells = try #require(lines.first { $0.hasPrefix("\(name) ") }).split(separator: #/ {2,}/#)
        return Dictionary(zip(titles, cells.map { String($0) })) { first, _ in first }
    }

    func inspect(
        arguments: [String], on console: RecordingConsole = RecordingConsole()
    ) -> (code: ExitCode, output: String, talk: String) {
        let code = run(
            arguments: arguments, environment: ["BREAKER_STORE": self.path], console: console, clock: self.clock)
        return (code, console.output, console.talk)
    }
}
