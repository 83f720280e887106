import CBreakerStore
import CSQLite

/// Reading values and bytes that may be long.
extension Connection {
    /// Runs `body`, for which a text may be as long as `longestKey`.
    func withLongTexts<Value>(_ body: () throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        unsafe sqlite3_limit(self.handle, SQLITE_LIMIT_LENGTH, Self.longestKey)
        defer { unsafe sqlite3_limit(self.handle, SQLITE_LIMIT_LENGTH, Self.longestText) }
        return try body()
    }

    /// Runs `body`, which reads one value of a row, however long the row is; nil if the value itself is too long.
    ///
    /// SQLite 3.37 holds a whole row against the limit of a text when it reads any of its columns.
    func reading<Value>(
        _ column: String,
        of table: String,
        row: Int64,
        _ body: () throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value? {
        var value: OpaquePointer?
        let code = unsafe self.openValue(column, table, row, &value)
        // A number and NULL can't be opened so, and are short.
        let size = code == SQLITE_OK ? unsafe sqlite3_blob_bytes(value) : 0
        unsafe sqlite3_blob_close(value)
        guard size <= Self.longestText else { return nil }
        return try self.withoutLimit(body)
    }

    /// Opens a value, of which nothing is read by that.
    private func openValue(
        _ column: String,
        _ table: String,
        _ row: Int64,
        _ value: inout OpaquePointer?
    ) -> Int32 {
        self.withoutLimit { unsafe sqlite3_blob_open(self.handle, "main", table, column, row, 0, &value) }
    }

    /// Runs `body`, which must not read a value that may be long, however long its rows are.
    func withoutLimit<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        unsafe sqlite3_limit(self.handle, SQLITE_LIMIT_LENGTH, .max)
        defer { unsafe sqlite3_limit(self.handle, SQLITE_LIMIT_LENGTH, Self.longestText) }
        return try body()
    }

    /// Reads the database file, of a large one the beginning, and throws if the system does not hand that out.
    func readThrough() throws(BreakerStoreError) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let size = min(StoreFile.size(self.path) ?? 0, StoreFile.mostToReadThrough)
        for offset in stride(from: 0, to: size, by: buffer.count) {
            let count = Int32(min(Int64(buffer.count), size - offset))
            let code = unsafe bs_read_file(self.handle, &buffer, count, offset)
            guard code == SQLITE_OK else {
                throw BreakerStoreError(
                    code: .unavailable, message: "a part of the file can't be read", sqliteCode: code, path: self.path)
            }
        }
    }
}
