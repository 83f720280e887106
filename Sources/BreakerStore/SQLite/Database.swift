import CSQLite

/// A connection with its statements, each prepared when it is first needed and kept.
///
/// Sendable: SQLite is thread-safe as long as one thread at a time uses a connection. Each connection has one user. The
/// writer and the checkpointer belong to the one who leads. The reader belongs to the one who has the lock of the
/// answers, and a connection for long reads to the one to whom it is lent.
final class Database: @unchecked Sendable {
    private final class Prepared {
        let key: UInt
        let statement: Statement

        init(_ key: UInt, _ statement: consuming Statement) {
            self.key = key
            self.statement = statement
        }
    }

    let connection: Connection
    // Some dozen at most. Not a dictionary: for the first one of a type the runtime looks for conformances in all
    // libraries that are loaded, which brings a megabyte of them into memory.
    private var prepared: [Prepared] = []

    init(_ connection: consuming Connection) { self.connection = connection }

    /// Runs a statement and throws its rows away.
    func run(_ sql: SQL, _ values: SQLValue...) throws(BreakerStoreError) {
        try self.run(sql, values)
    }

    func run(_ sql: SQL, _ values: [SQLValue]) throws(BreakerStoreError) {
        try self.prepare(sql).statement.run(values)
    }

    func first<Result>(
        _ sql: SQL,
        _ values: SQLValue...,
        read: (Row) throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> Result? {
        try self.prepare(sql).statement.first(values, read: read)
    }

    func first<Result>(
        _ sql: SQL,
        _ values: [SQLValue],
        read: (Row) throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> Result? {
        try self.prepare(sql).statement.first(values, read: read)
    }

    func all<Result>(
        _ sql: SQL,
        _ values: SQLValue...,
        read: (Row) throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> [Result] {
        try self.prepare(sql).statement.all(values, read: read)
    }

    func all<Result>(
        _ sql: SQL,
        _ values: [SQLValue],
        read: (Row) throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> [Result] {
        try self.prepare(sql).statement.all(values, read: read)
    }

    /// Hands each row to `body`, which may run other statements.
    func forEach(
        _ sql: SQL,
        _ values: [SQLValue],
        _ body: (Row) throws(BreakerStoreError) -> Void
    ) throws(BreakerStoreError) {
        try self.prepare(sql).statement.forEach(values, body)
    }

    /// Hands row after row to `body`, until that returns false.
    func read(
        _ sql: SQL,
        _ values: [SQLValue],
        while body: (Row) throws(BreakerStoreError) -> Bool
    ) throws(BreakerStoreError) {
        try self.prepare(sql).statement.read(values, while: body)
    }

    /// Runs a statement and returns SQLite's code, for the caller to judge.
    func code(_ sql: SQL) throws(BreakerStoreError) -> Int32 { try self.prepare(sql).statement.code() }

    func error(_ code: Int32) -> BreakerStoreError { self.connection.error(code) }

    private func prepare(_ sql: SQL) throws(BreakerStoreError) -> Prepared {
        let key = sql.key
        if let known = self.prepared.first(where: { $0.key == key }) { return known }
        let prepared = Prepared(key, try self.connection.prepare(sql.text))
        self.prepared.append(prepared)
        return prepared
    }
}

extension Database {
    /// Throws `newerSchema` if the file has been made one of a later major version.
    ///
    /// SQLite compiles statements anew after a change of the tables, but not after one of the version alone: each
    /// writer asks under the write lock.
    func requireKnownVersion() throws(BreakerStoreError) {
        let version = try self.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        try Schema.requireKnownVersion(version, self.connection.path)
    }

    static let done: Int32 = SQLITE_DONE
    static let busy: Int32 = SQLITE_BUSY
}
