import CSQLite

/// What SQLite itself finds wrong with a file.
enum Integrity {
    static func problems(of path: String) -> [String] {
        var database: OpaquePointer?
        defer { unsafe sqlite3_close_v2(database) }
        guard unsafe sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK
        else { return ["it can't be opened"] }
        // A checkpoint on closing would be a change of ours.
        unsafe _ = bs_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        unsafe sqlite3_busy_timeout(database, 20_000)
        var statement: OpaquePointer?
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK else {
            return [unsafe String(cString: sqlite3_errmsg(database))]
        }
        var problems: [String] = []
        var code = unsafe sqlite3_step(statement)
        while code == SQLITE_ROW {
            let line = unsafe sqlite3_column_text(statement, 0).map { unsafe String(cString: $0) } ?? ""
            if line != "ok" { problems.append(line) }
            code = unsafe sqlite3_step(statement)
        }
        if code != SQLITE_DONE { problems.append(unsafe String(cString: sqlite3_errmsg(database))) }
        return problems
    }

    /// Runs statements as any program would; false if one fails.
    static func run(_ path: String, _ sql: String) -> Bool {
        var database: OpaquePointer?
        defer { unsafe sqlite3_close_v2(database) }
        guard unsafe sqlite3_open(path, &database) == SQLITE_OK else { return false }
        return unsafe sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK
    }

    /// Copies the whole log into the database.
    static func fold(_ path: String) -> Bool { self.run(path, "PRAGMA wal_checkpoint(TRUNCATE)") }
}
