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
            message: "another process kept the file locked until the deadline",
            advice: "try again",
            path: path
        )
    }

    /// A ticket's deadline is over.
    ///
    /// - Parameter hasBegun: whether the commit has begun, and may still succeed.
    static func overdue(hasBegun: Bool, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .busy,
            message: hasBegun
                ? "the commit had begun but did not end before the deadline, and may still succeed"
                : "the file was in use until the deadline",
            path: path
        )
    }

    static func forked(_ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .forked,
            message: "this process is a fork of the one that opened the store",
            advice: "open the store again in this process",
            path: path
        )
    }

    /// A required write was rejected even after the rows were repaired: the file is no longer a usable store.
    static func unwritable(_ error: BreakerStoreError) -> BreakerStoreError {
        BreakerStoreError(
            code: .corrupt, message: "a required write was rejected even after repair: \(error.message)",
            sqliteCode: error.sqliteCode, path: error.path)
    }

    /// Whether a repair may help: SQLite refused a value, or this library can't read a row or another part of the file.
    ///
    /// False where SQLite itself reports a broken file.
    var isRowDamage: Bool { self.isOfRefusedValue || self.sqliteCode == nil && self.code == .corrupt }

    /// Whether the file or the system failed, so that no other change will fare better.
    var concernsFile: Bool {
        guard let code = self.sqliteCode else {
            return [Code.unavailable, .newerSchema, .olderSchema, .foreignSchema].contains(self.code)
        }
        return self.code == .corrupt || !SQLiteCode.isOfValue(code)
    }
}
