/// Errors of a store as a whole, and whether a row or the file is at fault.
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

    /// Healing the rows has not helped: the file is no usable store any longer.
    static func unwritable(_ error: BreakerStoreError) -> BreakerStoreError {
        BreakerStoreError(
            code: .corrupt, message: "the store does not take what it must take: \(error.message)",
            sqliteCode: error.sqliteCode, path: error.path)
    }

    /// Whether healing may help: SQLite refused a value, or this library can't read a row or another part of the file.
    ///
    /// False where SQLite itself reports a broken file.
    var isOfUnusableRow: Bool { self.isOfRefusedValue || self.sqliteCode == nil && self.code == .corrupt }

    /// Whether the file or the system failed, so that no other change will fare better.
    var isOfTheFile: Bool {
        guard let code = self.sqliteCode else {
            return [Code.unavailable, .newerSchema, .olderSchema, .foreignSchema].contains(self.code)
        }
        return self.code == .corrupt || !SQLiteCode.isOfValue(code)
    }
}
