import CSQLite

/// A database as SQLite by itself sees it.
@safe
final class SQLiteFile {
    private let handle: OpaquePointer?

    init(_ path: String) {
        var handle: OpaquePointer?
        unsafe sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        unsafe sqlite3_busy_timeout(handle, 20_000)
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_close_v2(self.handle) }

    /// Whether the header allows to write, once something has been read.
    var isWritable: Bool { unsafe sqlite3_db_readonly(self.handle, "main") == 0 }

    /// Copies all of the log into the database and empties it.
    static func checkpoint(_ path: String) { _ = SQLiteFile(path).rows("PRAGMA wal_checkpoint(TRUNCATE)") }

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
        var statement: OpaquePointer?
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_prepare_v2(self.handle, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
        var rows: [String] = []
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW:
                let count = unsafe sqlite3_column_count(statement)
                let columns = (0..<count).map { place in
                    unsafe sqlite3_column_text(statement, place).map { unsafe String(cString: $0) } ?? "NULL"
                }
                rows.append(columns.joined(separator: "|"))
            case SQLITE_DONE: return rows
            default: return nil
            }
        }
    }
}
