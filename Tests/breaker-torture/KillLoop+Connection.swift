import CSQLite

extension KillLoop {
    /// A connection that knows nothing of the library.
    @safe
    final class Connection {
        private let database: OpaquePointer

        init?(_ path: String) {
            var database: OpaquePointer?
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            guard unsafe sqlite3_open_v2(path, &database, flags, nil) == SQLITE_OK, let database = unsafe database
            else {
                return nil
            }
            unsafe self.database = database
            // A checkpoint on closing would be a change of ours.
            unsafe _ = bs_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            unsafe sqlite3_busy_timeout(database, 20_000)
        }

        deinit { unsafe sqlite3_close_v2(self.database) }

        private(set) var errors: [String] = []

        /// All rows.
        func rows(_ sql: String) -> [[String?]] {
            var statement: OpaquePointer?
            defer { unsafe sqlite3_finalize(statement) }
            guard unsafe sqlite3_prepare_v2(self.database, sql, -1, &statement, nil) == SQLITE_OK else {
                self.errors.append(unsafe String(cString: sqlite3_errmsg(self.database)))
                return []
            }
            var rows: [[String?]] = []
            var code = unsafe sqlite3_step(statement)
            while code == SQLITE_ROW {
                rows.append(
                    unsafe (0..<sqlite3_column_count(statement)).map { column in
                        unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) }
                    })
                code = unsafe sqlite3_step(statement)
            }
            if code != SQLITE_DONE { self.errors.append(unsafe String(cString: sqlite3_errmsg(self.database))) }
            return rows
        }
    }
}
