import CSQLite

/// A connection with its statements, each prepared at its first use and cached.
///
/// Sendable: SQLite is thread-safe as long as one thread at a time uses a connection, and each connection has one user.
/// Only the leader uses the writer and the checkpointer, and only the thread with the lock of `Answers` the reader.
/// Only the caller that has borrowed it uses a connection for long reads.
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
    /// A cache of the code that reads rows; used only by this connection's one user.
    var rowCache: AnyObject?
    // An array of a few dozen at most. Not a dictionary: for the first dictionary of a type, the runtime searches all
    // loaded libraries for conformances, which loads a megabyte of them into memory.
    private var prepared: [Prepared] = []

    init(_ connection: consuming Connection) { self.connection = connection }

    /// Runs a statement and discards its rows.
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

    /// Hands row after row to `body`, until `body` returns false.
    func read(
        _ sql: SQL,
        _ values: [SQLValue],
        while body: (Row) throws(BreakerStoreError) -> Bool
    ) throws(BreakerStoreError) {
        try self.prepare(sql).statement.read(values, while: body)
    }

    /// Runs a statement and returns SQLite's result code.
    func code(_ sql: SQL) throws(BreakerStoreError) -> Int32 { try self.prepare(sql).statement.code() }

    func error(_ code: Int32) -> BreakerStoreError { self.connection.error(code) }

    /// A number that "changes whenever any change occurs to the corresponding database file", through any connection,
    /// as of the open transaction (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html); nil if SQLite can't say.
    var dataVersion: UInt32? {
        let version = unsafe bs_data_version(self.connection.handle)
        return version == 0 ? nil : version
    }

    private func prepare(_ sql: SQL) throws(BreakerStoreError) -> Prepared {
        let key = sql.key
        if let known = self.prepared.first(where: { $0.key == key }) { return known }
        let prepared = Prepared(key, try self.connection.prepare(sql.text))
        self.prepared.append(prepared)
        return prepared
    }
}

extension Database {
    /// Throws `newerSchema` if another process has migrated the file to a later major version.
    ///
    /// SQLite compiles statements again after a change of the tables, but not after a change of the version alone, so
    /// each writer asks under the write lock.
    func requireKnownVersion() throws(BreakerStoreError) {
        let version = try self.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        try Schema.requireKnownVersion(version, self.connection.path)
    }

    static let done: Int32 = SQLITE_DONE
    static let busy: Int32 = SQLITE_BUSY
}
