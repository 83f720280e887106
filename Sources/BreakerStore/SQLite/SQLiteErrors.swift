import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension BreakerStoreError {
    /// The error for SQLite's last failure on `database`.
    init(database: OpaquePointer?, code: Int32, path: String) {
        // A nil connection means that SQLite had no memory for one; both functions accept nil.
        let systemError = unsafe sqlite3_system_errno(database)
        self.init(code, systemError, message: unsafe String(cString: sqlite3_errmsg(database)), path)
    }

    /// The error for a failure of SQLite without a connection.
    init(code: Int32, systemError: Int32, path: String) {
        self.init(code, systemError, message: unsafe String(cString: sqlite3_errstr(code)), path)
    }

    private init(_ code: Int32, _ systemError: Int32, message: String, _ path: String) {
        let kind = Code(sqliteCode: code, systemError: systemError)
        var (message, advice): (String, String?) = (message, nil)
        // SQLite's own message would be about the disk.
        if kind == .unsafePath {
            (message, advice) = (
                "a file of the store is a symbolic link, or not a regular file", "see which: ls -l '\(path)'*"
            )
        } else if kind == .full, case let limit = OpenFile.refreshSizeLimit(), limit < .max {
            // This also stores the limit: if an operator has raised it, the next write uses the new limit.
            message += ", or a file has the \(limit) bytes that this process may give it (ulimit -f)"
        } else if code == SQLITE_TOOBIG {
            message = "a row holds a text that is too long to be read"
            advice = "a service deletes such rows soon after it has opened the store: restart one"
        }
        self.init(
            code: kind,
            message: message,
            advice: advice,
            sqliteCode: code,
            path: path
        )
    }

    /// Whether SQLite refused a value that was read or written, because of its length or type; other rows may work.
    package var isOfRefusedValue: Bool { self.sqliteCode.map(SQLiteCode.isOfValue) ?? false }
}

extension BreakerStoreError.Code {
    /// The kind of error that an extended result code of SQLite stands for.
    init(sqliteCode: Int32, systemError: Int32) {
        switch (sqliteCode & 0xff, systemError) {
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _): self = .busy
        case (SQLITE_FULL, _), (SQLITE_IOERR, ENOSPC), (SQLITE_IOERR, EDQUOT): self = .full
        // SQLITE_ERROR: the library's statements are known to be right, so the file's schema is not the library's.
        case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _), (SQLITE_ERROR, _): self = .corrupt
        case (SQLITE_PERM, _), (SQLITE_AUTH, _), (SQLITE_CANTOPEN, EACCES), (SQLITE_CANTOPEN, EPERM),
            (SQLITE_READONLY, _):
            self = .permissionDenied
        case (SQLITE_CANTOPEN, ENOENT): self = .notFound
        // SQLite follows no symbolic link, and our VFS reports all other files that are not regular as links (shim.h).
        case (SQLITE_CANTOPEN, ELOOP), (SQLITE_IOERR, ELOOP): self = .unsafePath
        default: self = .unavailable
        }
    }
}

enum SQLiteCode {
    // Swift does not import composed macros (https://sqlite.org/rescode.html#extrc).
    private static let readOnlyRecovery = SQLITE_READONLY | 1 << 8
    private static let readOnlyCantInit = SQLITE_READONLY | 5 << 8

    /// Whether a connection that may not write the wal-index could not use it.
    static func isIndexUnusable(_ code: Int32) -> Bool {
        [SQLITE_PROTOCOL, Self.readOnlyRecovery, Self.readOnlyCantInit].contains(code)
    }

    /// Whether the log has more frames than a wal-index in this process's memory has room for.
    static func isLogTooLong(_ code: Int32?) -> Bool { code == SQLITE_NOLFS }

    /// Whether one value was at fault; other values may work.
    static func isOfValue(_ code: Int32) -> Bool {
        [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE].contains(code & 0xff)
    }
}
