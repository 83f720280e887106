import CSQLite
import Testing

@testable import BreakerStore

/// A connection as another program has it: the library's own rules don't hold.
@safe
final class Foreign {
    private let handle: OpaquePointer?

    /// - Parameter keepsLog: whether it leaves the log as it is when it is the last to close.
    init(_ path: String, keepsLog: Bool = false) {
        var handle: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        if code != SQLITE_OK { Issue.record("cannot open \(path): \(code)") }
        unsafe sqlite3_busy_timeout(handle, 20_000)
        if keepsLog { unsafe _ = bs_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_close_v2(self.handle) }

    func run(_ sql: String) {
        let code = unsafe sqlite3_exec(self.handle, sql, nil, nil, nil)
        let message = unsafe String(cString: sqlite3_errmsg(self.handle))
        if code != SQLITE_OK { Issue.record("\(sql): \(message)") }
    }

    /// Whether SQLite does it.
    func takes(_ sql: String) -> Bool { unsafe sqlite3_exec(self.handle, sql, nil, nil, nil) == SQLITE_OK }

    /// The first value of the first row.
    func value(_ sql: String) -> String? {
        var statement: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(self.handle, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_step(statement) == SQLITE_ROW else { return nil }
        guard let text = unsafe sqlite3_column_text(statement, 0) else { return nil }
        return unsafe String(cString: text)
    }

    /// All rows with all columns, as texts.
    func rows(_ sql: String) -> [[String?]] {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(self.handle, sql, -1, &statement, nil)
        if code != SQLITE_OK { Issue.record("\(sql): \(unsafe String(cString: sqlite3_errmsg(self.handle)))") }
        defer { unsafe sqlite3_finalize(statement) }
        var rows: [[String?]] = []
        while unsafe sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<(unsafe sqlite3_column_count(statement))).map { column in
                    unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) }
                })
        }
        return rows
    }

    static func run(_ path: String, _ sql: String, keepsLog: Bool = false) {
        Foreign(path, keepsLog: keepsLog).run(sql)
    }

    /// Copies the whole log into the database; waits for readers that are in the way.
    static func copyLog(of path: String) {
        #expect(Foreign(path, keepsLog: true).value("PRAGMA wal_checkpoint(FULL)") == "0", "all is copied")
    }

    static func value(_ path: String, _ sql: String) -> String? { Foreign(path).value(sql) }

    static func rows(_ path: String, _ sql: String) -> [[String?]] { Foreign(path).rows(sql) }
}
