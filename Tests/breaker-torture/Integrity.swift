import CSQLite

/// What SQLite itself finds wrong with a file.
enum Integrity {
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

    /// Copies the whole log into the database.
    static func fold(_ path: String) -> Bool { self.run(path, "PRAGMA wal_checkpoint(TRUNCATE)") }
}
