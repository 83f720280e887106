import CSQLite

/// A value that goes into a statement.
enum SQLValue: Equatable {
    case null
    case integer(Int64)
    case text(String)

    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    init(_ integer: Int64?) { self = integer.map { .integer($0) } ?? .null }
}

/// A prepared statement, to be used many times.
///
/// It must not outlive its connection.
@safe
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let authorizer: Authorizer
    private let path: String

    init(
        _ sql: String,
        on database: OpaquePointer,
        _ authorizer: Authorizer,
        path: String
    ) throws(BreakerStoreError) {
        var handle: OpaquePointer?
        func compile() -> Int32 {
            // PERSISTENT: the statement lives as long as the connection, so SQLite takes no lookaside memory for it.
            authorizer.compiling {
                unsafe sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
            }
        }
        var code = compile()
        if code == SQLITE_AUTH, authorizer.wantsVerification {
            try unsafe Schema.verify(database, authorizer, path: path)
            code = compile()
        }
        guard code == SQLITE_OK, let prepared = unsafe handle else {
            // The library's own SQL is short, so the long text is in the schema, without which nothing works.
            let code = code == SQLITE_TOOBIG ? SQLITE_CORRUPT : code
            throw unsafe BreakerStoreError(database: database, code: code, path: path)
        }
        unsafe self.handle = prepared
        self.authorizer = authorizer
        self.path = path
    }

    deinit { unsafe sqlite3_finalize(self.handle) }

    /// Runs the statement and discards its rows.
    func run(_ values: [SQLValue] = []) throws(BreakerStoreError) {
        try self.bind(values)
        defer { unsafe sqlite3_reset(self.handle) }
        while try self.step() {}
    }

    /// Returns the result of `read` for the first row, or nil if there is no row.
    func first<Result>(
        _ values: [SQLValue] = [],
        read: (Row) throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> Result? {
        try self.bind(values)
        defer { unsafe sqlite3_reset(self.handle) }
        return try self.step() ? read(unsafe Row(statement: self.handle)) : nil
    }

    /// Returns the results of `read` for all rows.
    func all<Result>(
        _ values: [SQLValue] = [],
        read: (Row) throws(BreakerStoreError) -> Result
    ) throws(BreakerStoreError) -> [Result] {
        var results: [Result] = []
        try self.forEach(values) { (row) throws(BreakerStoreError) in results.append(try read(row)) }
        return results
    }

    /// Hands each row to `body`.
    func forEach(
        _ values: [SQLValue],
        _ body: (Row) throws(BreakerStoreError) -> Void
    ) throws(BreakerStoreError) {
        try self.read(values) { (row) throws(BreakerStoreError) -> Bool in
            try body(row)
            return true
        }
    }

    /// Hands row after row to `body`, until `body` returns false.
    func read(
        _ values: [SQLValue],
        while body: (Row) throws(BreakerStoreError) -> Bool
    ) throws(BreakerStoreError) {
        try self.bind(values)
        defer { unsafe sqlite3_reset(self.handle) }
        while try self.step() {
            guard try body(unsafe Row(statement: self.handle)) else { return }
        }
    }

    /// Runs the statement once and returns SQLite's result code.
    ///
    /// Only for statements that touch no table.
    func code() -> Int32 {
        let code = self.authorizer.compiling { unsafe sqlite3_step(self.handle) }
        _ = unsafe sqlite3_reset(self.handle)
        return code
    }

    private func step() throws(BreakerStoreError) -> Bool {
        var code = unsafe sqlite3_step(self.handle)
        if code == SQLITE_AUTH, self.authorizer.wantsVerification { code = try self.stepVerified() }
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw self.error(code)
        }
    }

    /// Repeats the first step after a change of the schema; throws if the tables are no longer the library's.
    ///
    /// SQLite compiles a statement again only at its first step, so the statement has changed nothing yet.
    private func stepVerified() throws(BreakerStoreError) -> Int32 {
        unsafe sqlite3_reset(self.handle)
        guard let database = unsafe sqlite3_db_handle(self.handle) else { return SQLITE_AUTH }
        try unsafe Schema.verify(database, self.authorizer, path: self.path)
        return self.authorizer.compiling { unsafe sqlite3_step(self.handle) }
    }

    private func bind(_ values: [SQLValue]) throws(BreakerStoreError) {
        for (index, value) in values.enumerated() {
            let parameter = Int32(index + 1)
            let code =
                switch value {
                case .null: unsafe sqlite3_bind_null(self.handle, parameter)
                case .integer(let integer): unsafe sqlite3_bind_int64(self.handle, parameter, integer)
                case .text(var text):
                    text.withUTF8 {
                        // SQLite's lengths are 32-bit integers; a length that does not fit is too long.
                        guard let count = Int32(exactly: $0.count) else { return SQLITE_TOOBIG }
                        return unsafe bs_bind_text(self.handle, parameter, $0.baseAddress, count)
                    }
                }
            guard code != SQLITE_TOOBIG else { throw Self.tooLong }
            guard code == SQLITE_OK else { throw self.error(code) }
        }
    }

    /// The error for a caller's value that is too long to be written or searched for.
    private static var tooLong: BreakerStoreError {
        BreakerStoreError(
            code: .invalidConfiguration,
            message: "a text is too long; allowed: at most \(Connection.longestText) bytes"
        )
    }

    private func error(_ code: Int32) -> BreakerStoreError {
        unsafe BreakerStoreError(database: sqlite3_db_handle(self.handle), code: code, path: self.path)
    }
}

/// The current row of a statement; valid only inside the closure that it is passed to.
@safe
struct Row {
    private let statement: OpaquePointer

    init(statement: OpaquePointer) { unsafe self.statement = statement }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(self.statement, column) }

    func text(_ column: Int32) -> String { self.optionalText(column) ?? "" }

    func optionalInteger(_ column: Int32) -> Int64? { self.isNull(column) ? nil : self.integer(column) }

    func optionalText(_ column: Int32) -> String? {
        // The text comes before the count: only then SQLite counts the bytes of the UTF-8 form
        // (https://sqlite.org/c3ref/column_blob.html).
        guard let text = unsafe sqlite3_column_text(self.statement, column) else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(self.statement, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// The bytes of a text; empty for NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        let text = unsafe sqlite3_column_text(self.statement, column)
        let count = Int(unsafe sqlite3_column_bytes(self.statement, column))
        return unsafe Array(UnsafeBufferPointer(start: text, count: count))
    }

    /// The value of a column of integers; nil for anything else.
    func typedInteger(_ column: Int32) -> Int64? {
        unsafe sqlite3_column_type(self.statement, column) == SQLITE_INTEGER ? self.integer(column) : nil
    }

    /// The value of a column of texts; nil for anything else.
    func typedText(_ column: Int32) -> String? {
        self.isText(column) ? self.optionalText(column) : nil
    }

    /// Whether a column of texts has exactly these bytes; copies nothing.
    func isText(_ column: Int32, of bytes: [UInt8]) -> Bool {
        guard self.isText(column), let text = unsafe sqlite3_column_text(self.statement, column)
        else { return false }
        let count = Int(unsafe sqlite3_column_bytes(self.statement, column))
        return unsafe count == bytes.count && memcmp(text, bytes, count) == 0
    }

    func isText(_ column: Int32) -> Bool { unsafe sqlite3_column_type(self.statement, column) == SQLITE_TEXT }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(self.statement, column) == SQLITE_NULL }

    /// Whether `text` has exactly the bytes of the column that it was read from, so that all of them are valid UTF-8.
    func isUTF8(_ text: String, _ column: Int32) -> Bool {
        guard let bytes = unsafe sqlite3_column_text(self.statement, column) else { return false }
        let count = Int(unsafe sqlite3_column_bytes(self.statement, column))
        return unsafe text.utf8.elementsEqual(UnsafeBufferPointer(start: bytes, count: count))
    }
}
