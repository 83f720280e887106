import CSQLite

/// A database as SQLite by itself sees it.
@safe
final class SQLiteFile {
    private let handle: OpaquePointer?

    /// What SQLite said of each statement that failed.
    private(set) var errors: [String] = []

    /// - Parameter creates: whether the file is made if it is not there.
    init(_ path: String, creates: Bool = false) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        unsafe sqlite3_open_v2(path, &handle, flags, nil)
        // A checkpoint on closing would be a change of ours.
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        unsafe sqlite3_busy_timeout(handle, 20_000)
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_close_v2(self.handle) }

    /// Whether the header allows to write, once something has been read.
    var isWritable: Bool { unsafe sqlite3_db_readonly(self.handle, "main") == 0 }

    /// Copies all of the log into the database and empties it; false if SQLite can't.
    @discardableResult
    static func checkpoint(_ path: String) -> Bool { SQLiteFile(path).rows("PRAGMA wal_checkpoint(TRUNCATE)") != nil }

    /// What SQLite itself finds wrong with a file.
    static func problems(of path: String) -> [String] {
        let file = SQLiteFile(path)
        return file.fields("PRAGMA integrity_check").map { $0[0] ?? "" }.filter { $0 != "ok" } + file.errors
    }

    /// Runs statements as any program would; false if one fails.
    static func run(_ path: String, _ sql: String) -> Bool {
        var database: OpaquePointer?
        defer { unsafe sqlite3_close_v2(database) }
        guard unsafe sqlite3_open(path, &database) == SQLITE_OK else { return false }
        return unsafe sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK
    }

    /// Runs statements as somebody does who minds no rule: the schema's text can be written, no check is made.
    ///
    /// Throws if SQLite refuses all the same.
    static func force(_ path: String, _ statements: [String]) throws {
        let file = SQLiteFile(path)
        for sql in ["PRAGMA writable_schema = ON", "PRAGMA ignore_check_constraints = ON"] + statements {
            guard unsafe sqlite3_exec(file.handle, sql, nil, nil, nil) == SQLITE_OK else {
                throw HostileCase.NotWritable()
            }
        }
    }

    /// The rows as text; nil if they can't be read.
    func rows(_ sql: String) -> [String]? {
        let (rows, isWhole) = self.read(sql)
        return isWhole ? rows.map { $0.map { $0 ?? "NULL" }.joined(separator: "|") } : nil
    }

    /// The columns of all rows up to the first that can't be read.
    func fields(_ sql: String) -> [[String?]] { self.read(sql).rows }

    private func read(_ sql: String) -> (rows: [[String?]], isWhole: Bool) {
        var statement: OpaquePointer?
        defer { unsafe sqlite3_finalize(statement) }
        var rows: [[String?]] = []
        var code = unsafe sqlite3_prepare_v2(self.handle, sql, -1, &statement, nil)
        if code == SQLITE_OK { code = unsafe sqlite3_step(statement) }
        while code == SQLITE_ROW {
            rows.append(
                unsafe (0..<sqlite3_column_count(statement)).map { place in
                    unsafe sqlite3_column_text(statement, place).map { unsafe String(cString: $0) }
                })
            code = unsafe sqlite3_step(statement)
        }
        if code != SQLITE_DONE { self.errors.append(unsafe String(cString: sqlite3_errmsg(self.handle))) }
        return (rows, code == SQLITE_DONE)
    }
}
