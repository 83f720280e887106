import BreakerTestSupport

@testable import BreakerStore

/// Databases with all that lies beside them, copied while a connection is still at work on them.
enum Strangers {
    /// Makes a database with `sql` and copies the files with these endings to `path`.
    static func make(_ path: String, _ endings: [String], _ sql: String...) throws {
        try Files.withDirectory { directory in
            let original = "\(directory)/original"
            let connection = Foreign(original)
            for statement in sql { connection.run(statement) }
            for ending in [""] + endings { Files.copy(original + ending, to: path + ending) }
        }
    }

    static let log = "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)"
    static let rollback = "CREATE TABLE t (x); INSERT INTO t VALUES (1)"
    /// A transaction that has written to the database and would be rolled back by the next reader.
    static let hot = """
        PRAGMA cache_size = 1; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000)); BEGIN;
        UPDATE t SET x = zeroblob(200000)
        """

    /// A store's files with another version of the schema.
    static func makeStore(_ path: String, version: Int, _ endings: [String], _ sql: String...) throws {
        try Files.withDirectory { directory in
            let original = "\(directory)/original"
            try Stores.make(original)
            let connection = Foreign(original)
            connection.run("PRAGMA user_version = \(version)")
            for statement in sql { connection.run(statement) }
            for ending in ["", "-lock"] + endings { Files.copy(original + ending, to: path + ending) }
        }
    }
}

/// Stores as tests use them.
enum Stores {
    static func configuration(_ access: Access = .readWrite) -> CircuitStore.Configuration {
        var configuration = CircuitStore.Configuration()
        configuration.access = access
        configuration.busyTimeout = .hangLimit
        return configuration
    }

    static func config(_ name: String = "a", maxFailures: Int = 2) -> CircuitBreaker.Config {
        .init(name: name, recoveryTimeout: .seconds(30), maxFailures: maxFailures, rollingWindow: .seconds(60))
    }

    /// A store with one circuit that has failed once.
    static func make(_ path: String) throws {
        let store = try CircuitStore(path: path, configuration: Self.configuration())
        try store.breaker(Self.config()).recordFailure()
        store.close()
    }
}
