import BreakerTestSupport
import CSQLite

@testable import BreakerStore

/// A small store with something of everything in it, made anew by each run.
struct SampleStore: Sendable {
    /// The database alone, whole without a log.
    let database: [UInt8]
    /// A log of a few frames over that database, and its index.
    let log: [UInt8]
    let index: [UInt8]

    private struct Boom: Error {}

    init(in scratch: Scratch) throws {
        try scratch.place([:])
        let file = try StoreFile(resolving: scratch.store)
        // The smallest pages: libFuzzer finds its way through small files.
        try Self.make(file)
        try Self.fill(file)
        try scratch.place(["": try Self.compacted(file)])
        self.database = Scratch.read(file.path) ?? []
        // The log goes when its only connection is closed.
        (self.log, self.index) = try Self.change(file.path, Self.changes) {
            (Scratch.read(file.log) ?? [], Scratch.read(file.index) ?? [])
        }
    }

    private static let changes = """
        UPDATE circuit SET epoch = epoch + 1, last_error = 'checked' WHERE name = 'mail';
        DELETE FROM failure;
        PRAGMA user_version = 3001;
        """

    /// Does what the library's own connections would not do; `body` runs before the connection is closed.
    private static func change<Value>(_ path: String, _ sql: String, _ body: () -> Value) throws -> Value {
        var connection: OpaquePointer?
        defer { unsafe sqlite3_close(connection) }
        guard unsafe sqlite3_open(path, &connection) == SQLITE_OK,
            unsafe sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
        else { throw Violation("the sample can't be made: \(unsafe String(cString: sqlite3_errmsg(connection)))") }
        return body()
    }

    private static func make(_ file: StoreFile) throws {
        try Scratch.write([], to: file.path)
        let connection = try Connection(path: file.path, access: .readWrite)
        try connection.execute("PRAGMA page_size = 512")
        _ = try Schema.migrate(connection, file)
    }

    private static func fill(_ file: StoreFile) throws {
        var configuration = CircuitStore.Configuration()
        configuration.clock = ManualHostClock()
        configuration.workerName = "fuzz"
        let store = try CircuitStore(path: file.path, configuration: configuration)
        defer { store.close() }
        for (name, group, failures) in [("mail", nil, 1), ("users", "shop", 2), ("a\u{301} [x]*", "shop", 0)] {
            let breaker = try store.breaker(
                .init(
                    name: name, group: group, recoveryTimeout: .seconds(30), maxFailures: 2,
                    rollingWindow: .seconds(60)))
            for _ in 0..<failures { breaker.recordFailure(Boom()) }
        }
        _ = try store.breaker(.init(name: "late", trip: .consecutiveFailures(3)))
        try store.hold("late", .open, for: .seconds(60), by: "ann", reason: "moving")
    }

    /// The same store without the pages that were kept in reserve.
    private static func compacted(_ file: StoreFile) throws -> [UInt8] {
        let target = file.path + "-compact"
        var bytes = try Self.change(file.path, "VACUUM INTO '\(target)'") { Scratch.read(target) ?? [] }
        // Versions 2 of the format: it keeps a write-ahead log.
        bytes.replaceSubrange(18..<20, with: [2, 2])
        return bytes
    }
}
