import CBreakerStore
import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A connection to a database, used by one thread at a time; closed when it goes out of scope.
@safe
struct Connection: ~Copyable {
    enum Access {
        case readWrite
        /// Reads and writes, as a second connection of this process; the log must exist.
        case sharing
        /// Reads the database alone, without locks, as if no process wrote to it.
        case immutable
        /// Reads through the existing wal-index, and changes no file.
        case sharedReader
        /// Reads the database and its log through a wal-index in its own memory: makes no file, takes no lock, and sees
        /// no commit after its first read.
        case privateReader
    }

    /// How many frames of the log a private reader's wal-index has room for.
    static let maxPrivateFrames = 4_096 * Int64(bs_max_regions)

    /// Whether the VFSes that check each name before SQLite opens it (shim.h) are registered; false if memory ran out.
    ///
    /// The first use registers them.
    private static let hasVFSes = unsafe bs_register_vfses(bs_size_limit()) == SQLITE_OK

    let handle: OpaquePointer
    private let access: Access
    private let authorizer: Authorizer
    let path: String
    private let syncs: Bool

    /// Opens `path`, which must be resolved: no part of it may be a symbolic link.
    ///
    /// - Parameters:
    ///   - syncs: whether to sync what must survive a power loss; false for a temporary file.
    ///   - acceptsOlder: whether a file of an older major version is accepted.
    ///   - isSafe: whether the caller has just checked the files at the path (`StoreFile.requireSafe`).
    ///   - tables: the tables that statements may touch.
    init(
        path: String, access: Access, syncs: Bool = true, acceptsOlder: Bool = false, isSafe: Bool = false,
        tables: [StoreTable] = StoreTable.all
    ) throws(BreakerStoreError) {
        self.path = path
        self.syncs = syncs
        self.access = access
        self.authorizer = Authorizer(acceptsOlder: acceptsOlder || access == .readWrite, tables: tables)
        try Self.requireUsable(path)
        if !isSafe { try StoreFile.requireSafe(path) }
        OpenFile.refreshSizeLimit()
        let name: String
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE
        switch access {
        case .readWrite, .sharing:
            name = path
            flags |= SQLITE_OPEN_READWRITE
        case .immutable:
            name = Self.uri(path, "immutable=1")
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        case .sharedReader:
            // A plain read-only opening creates or rewrites the -shm file
            // (https://sqlite.org/wal.html#read_only_databases).
            name = Self.uri(path, "readonly_shm=1")
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        case .privateReader:
            name = path
            flags |= SQLITE_OPEN_READONLY
        }
        var opened: OpaquePointer?
        let vfs =
            switch access {
            case .readWrite: "breaker-store"
            case .sharing: "breaker-store-sharing"
            case .immutable, .sharedReader: "breaker-store-reader"
            case .privateReader: "breaker-store-private"
            }
        let code = unsafe sqlite3_open_v2(name, &opened, flags, vfs)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            let error = unsafe BreakerStoreError(database: opened, code: code, path: path)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe self.handle = handle
        // A file may come from any source: nothing in it may run code or write the schema
        // (https://sqlite.org/security.html#untrusted_sqlite_database_files).
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
        // Otherwise closing the last connection makes a checkpoint, without the setup lock that keeps writers away.
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        for (limit, value) in Self.limits { unsafe sqlite3_limit(handle, limit, value) }
        unsafe self.authorizer.attach(to: handle)
    }

    /// Throws unless SQLite can be used.
    private static func requireUsable(_ path: String) throws(BreakerStoreError) {
        if let refusal = Versions.refusal(of: sqlite3_libversion_number(), path: path) { throw refusal }
        guard Self.hasVFSes else {
            throw BreakerStoreError(
                code: .unavailable, message: "there is no memory left", advice: "try again", path: path)
        }
    }

    /// The first bytes of a database, read without a lock; nil if the file is shorter.
    ///
    /// The caller has checked the path; SQLite opens only a regular file (shim.h).
    static func firstBytes(_ count: Int, of path: String) throws(BreakerStoreError) -> [UInt8]? {
        try Self.requireUsable(path)
        var bytes = [UInt8](repeating: 0, count: count)
        let code = unsafe bs_read_beginning(path, &bytes, Int32(count))
        // Swift does not import SQLITE_IOERR_SHORT_READ, a macro made of macros.
        let shortRead = SQLITE_IOERR | 2 << 8
        guard code == SQLITE_OK || code == shortRead else {
            throw BreakerStoreError(code: code, systemError: errno, path: path)
        }
        return code == SQLITE_OK ? bytes : nil
    }

    /// The most bytes of a text and of a row: more than people write, and few enough to be read into memory.
    static let longestText: Int32 = 1 << 20
    /// The most bytes of a key: SQLite can't delete a row with a longer key, since it reads the row's keys whole.
    static let longestKey: Int32 = 16 << 20

    /// Limits above the library's needs, and low enough to be harmless (https://sqlite.org/limits.html).
    private static let limits: [(Int32, Int32)] = [
        // A longer text or row causes an error for its row instead of taking gigabytes of memory.
        (SQLITE_LIMIT_LENGTH, Self.longestText),
        (SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        (SQLITE_LIMIT_VARIABLE_NUMBER, 64),
        (SQLITE_LIMIT_ATTACHED, 0),
        (SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]

    deinit { unsafe sqlite3_close_v2(self.handle) }

    /// Compiles a statement of the library; throws if it touches tables that are not the library's.
    func prepare(_ sql: String) throws(BreakerStoreError) -> Statement {
        try unsafe Statement(sql, on: self.handle, self.authorizer, path: self.path)
    }

    /// The version of the file's schema; first calls `requireVerifiedSchema`.
    func schemaVersion() throws(BreakerStoreError) -> Int64 {
        try self.requireVerifiedSchema()
        return self.authorizer.version ?? 0
    }

    /// Compares the file's tables with the library's, unless that was done already; throws if they differ.
    func requireVerifiedSchema() throws(BreakerStoreError) {
        if self.authorizer.version == nil { try self.verifySchema() }
    }

    /// Compares the file's tables with the library's now; returns whether other programs have added to the schema.
    @discardableResult
    func verifySchema() throws(BreakerStoreError) -> Bool {
        try unsafe Schema.verify(self.handle, self.authorizer, path: self.path)
    }

    /// Whether the connection knows a table of this name: another process may have made or dropped it since the
    /// connection last read the schema.
    func hasTable(_ name: String) -> Bool {
        unsafe sqlite3_table_column_metadata(self.handle, "main", name, nil, nil, nil, nil, nil, nil) == SQLITE_OK
    }

    /// Runs all statements of `sql`, which must touch no table, and discards their rows.
    func execute(_ sql: String) throws(BreakerStoreError) {
        let code = self.authorizer.compiling { unsafe sqlite3_exec(self.handle, sql, nil, nil, nil) }
        guard code == SQLITE_OK else { throw self.error(code) }
    }

    /// Runs all statements of `sql`, which may make and change tables and must be the library's own text.
    func changeSchema(_ sql: String) throws(BreakerStoreError) {
        let code = self.authorizer.changingSchema { unsafe sqlite3_exec(self.handle, sql, nil, nil, nil) }
        guard code == SQLITE_OK else { throw self.error(code) }
    }

    /// The result of a pragma or another query for one number.
    func integer(_ sql: String) throws(BreakerStoreError) -> Int64 {
        try self.prepare(sql).first { $0.integer(0) } ?? 0
    }

    func text(_ sql: String) throws(BreakerStoreError) -> String {
        try self.prepare(sql).first { $0.text(0) } ?? ""
    }

    /// Sets the pragmas of every connection to a shared file; none of them makes SQLite read the schema.
    ///
    /// `secure_delete`: a system's SQLite may overwrite deleted content, and then deleting a long text would write as
    /// many bytes to the log, under the write lock. With `FAST`, SQLite "will overwrite deleted content with zeros only
    /// if doing so does not increase the amount of I/O" (https://sqlite.org/pragma.html#pragma_secure_delete).
    func configureForReading() throws(BreakerStoreError) {
        try self.execute(
            """
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = -1;
            PRAGMA mmap_size = 0;
            PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA secure_delete = FAST;
            """
        )
        // The log stays, so that blocks that were allocated once are available on a full disk.
        _ = unsafe bs_persist_wal(self.handle)
    }

    /// Sets what commits and checkpoints sync, and keeps a transaction of any size out of the log until its COMMIT.
    ///
    /// `synchronous` overrides how the system's SQLite was compiled. `cache_spill = OFF`: nothing reaches the log
    /// before COMMIT, so a transaction can still verify that the wal-index is in place. Both pragmas make SQLite read
    /// the whole schema while an opening waits, so read-only connections do without them.
    func configureForWriting() throws(BreakerStoreError) {
        try self.execute("PRAGMA synchronous = \(self.syncs ? "NORMAL" : "OFF"); PRAGMA cache_spill = OFF")
    }

    /// Sets how long SQLite itself waits for other connections' locks; zero leaves the waiting to the caller.
    func waitWhenBusy(_ duration: Duration) throws(BreakerStoreError) {
        let code = unsafe sqlite3_busy_timeout(self.handle, Int32(clamping: Int64(duration / .milliseconds(1))))
        guard code == SQLITE_OK else { throw self.error(code) }
    }

    /// Whether a transaction is open; SQLite itself rolls back after some errors.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(self.handle) == 0 }

    /// The id of the row that this connection has inserted last; `RETURNING` would make a table in memory for each row.
    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(self.handle) }

    /// How many rows this connection has changed since it was opened.
    var changes: Int64 { unsafe sqlite3_total_changes64(self.handle) }

    /// Whether the path now leads to another file than the open one, or to none.
    var hasMoved: Bool { unsafe bs_has_moved(self.handle) != 0 }

    /// Syncs the write-ahead log to the disk.
    func syncLog() throws(BreakerStoreError) {
        guard self.syncs else { return }
        let code = unsafe bs_sync_wal(self.handle)
        guard code == SQLITE_OK else {
            throw BreakerStoreError(
                code: .unavailable,
                message: "the write-ahead log can't be synced",
                sqliteCode: code,
                path: self.path
            )
        }
    }

    /// The wal-index's header, readable while the connection is open; nil before the first read, or without a
    /// wal-index.
    func walIndex() -> WalIndex? {
        // On an immutable database, the request for the header would make SQLite create the wal-index.
        guard self.access != .immutable, let page = unsafe bs_wal_index(self.handle) else { return nil }
        return unsafe WalIndex(page: page)
    }

    func error(_ code: Int32) -> BreakerStoreError {
        unsafe BreakerStoreError(database: self.handle, code: code, path: self.path)
    }

    private static func uri(_ path: String, _ query: String) -> String {
        // These characters would end the path or start an escape (https://sqlite.org/uri.html).
        var escaped = ""
        for character in path {
            switch character {
            case "%": escaped += "%25"
            case "?": escaped += "%3f"
            case "#": escaped += "%23"
            default: escaped.append(character)
            }
        }
        return "file:\(escaped)?\(query)"
    }
}
