import CBreakerStore
import CSQLite

/// Reads values and bytes that may be long.
extension Connection {
    /// Runs `body` with SQLite's limit for texts and rows raised to `longestKey`.
    func withLongTexts<Value>(_ body: () throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.withLengthLimit(Self.longestKey, body)
    }

    /// Runs `body`, which reads one value of a row of any length; nil if the value itself is too long.
    ///
    /// When SQLite 3.37 reads any column, it compares the length of the whole row with the limit of a text.
    func reading<Value>(
        _ column: String,
        of table: String,
        row: Int64,
        _ body: () throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value? {
        var value: OpaquePointer?
        let code = unsafe self.openValue(column, table, row, &value)
        // A number or NULL can't be opened as a blob, and is short.
        let size = code == SQLITE_OK ? unsafe sqlite3_blob_bytes(value) : 0
        unsafe sqlite3_blob_close(value)
        guard size <= Self.longestText else { return nil }
        return try self.withoutLimit(body)
    }

    /// Opens a value without reading it.
    private func openValue(
        _ column: String,
        _ table: String,
        _ row: Int64,
        _ value: inout OpaquePointer?
    ) -> Int32 {
        self.withoutLimit { unsafe sqlite3_blob_open(self.handle, "main", table, column, row, 0, &value) }
    }

    /// Runs `body` without a limit for texts and rows.
    ///
    /// `body` must read only values whose length was checked, or that are short.
    func withoutLimit<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try self.withLengthLimit(.max, body)
    }

    private func withLengthLimit<Value, Failure: Error>(
        _ length: Int32, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        unsafe sqlite3_limit(self.handle, SQLITE_LIMIT_LENGTH, length)
        defer { unsafe sqlite3_limit(self.handle, SQLITE_LIMIT_LENGTH, Self.longestText) }
        return try body()
    }

    /// Reads at most `maxToReadThrough` bytes of the database file; throws if the system can't read a part of them.
    func readThrough() throws(BreakerStoreError) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let size = min(StoreFile.size(self.path) ?? 0, StoreFile.maxToReadThrough)
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
