/// Errors of a store as a whole, and what an error says of what is at fault.
extension BreakerStoreError {
    static func moved(_ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .unavailable, message: "a file of the store was removed or replaced", path: path)
    }

    static func closed(_ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .closed, message: "the store was closed", path: path)
    }

    static func busy(_ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .busy,
            message: "another process has kept the file locked until the deadline",
            advice: "try again",
            path: path
        )
    }

    /// - Parameter isTaken: whether the commit has begun.
    static func overdue(isTaken: Bool, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .busy,
            message: isTaken
                ? "the commit had begun but did not end by the deadline, and may yet be done"
                : "the file was in use until the deadline",
            path: path
        )
    }

    static func forked(_ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .forked,
            message: "this process is a fork of the one that opened the store",
            advice: "open it anew here",
            path: path
        )
    }

    /// Rows that stay in the way after they have been healed: the file is no store any longer.
    static func unwritable(_ error: BreakerStoreError) -> BreakerStoreError {
        BreakerStoreError(
            code: .corrupt, message: "the store does not take what it must take: \(error.message)",
            sqliteCode: error.sqliteCode, path: error.path)
    }

    /// Whether SQLite refused a value that is read or written, for its length or its type: other rows may fare better.
    var isOfRefusedValue: Bool { self.sqliteCode.map(SQLiteCode.isOfValue) ?? false }

    /// The same, or this library found a row, or anything else in the file, that it can't read: what healing is for.
    ///
    /// Not where SQLite itself calls the file broken.
    var isOfUnusableRow: Bool { self.isOfRefusedValue || self.sqliteCode == nil && self.code == .corrupt }

    /// Whether the file or the system failed, so that no other change will fare better.
    var isOfTheFile: Bool {
        guard let code = self.sqliteCode else { return self.code == .unavailable }
        return self.code == .corrupt || !SQLiteCode.isOfValue(code)
    }
}
