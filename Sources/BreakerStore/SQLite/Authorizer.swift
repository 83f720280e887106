import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Allows SQLite only what the library itself does: SQLite asks about each part of a statement that it compiles
/// (https://sqlite.org/c3ref/set_authorizer.html).
///
/// SQLite does not ask about the expressions in a file's own tables and indexes, such as a CHECK or the value of a
/// generated column. So no statement may touch the tables before their SQL has been compared with the library's. If
/// SQLite compiles a statement again of its own accord, another program has changed the schema, and the tables are
/// compared again.
///
/// Used only by the thread that uses the connection.
final class Authorizer {
    private enum Mode {
        /// The library compiles nothing: if SQLite does, another program has changed the schema.
        case idle
        /// SQLite compiles a statement of the library.
        case compiling
        /// SQLite compiles a statement of the library that makes or changes tables.
        case changingSchema
    }

    /// Whether a file of an older major version is accepted: to be migrated, or to be checked.
    let acceptsOlder: Bool
    private let tables: [StaticString]
    private var mode = Mode.idle
    /// Whether the tables were found to be the library's, and no program has changed them since.
    private var isVerified = false
    /// The version of the schema when the tables were compared; nil before that.
    private(set) var version: Int64?
    /// Whether a statement was refused only because the tables have not been compared yet.
    private(set) var wantsVerification = false

    init(acceptsOlder: Bool, tables: [StoreTable]) {
        self.acceptsOlder = acceptsOlder
        self.tables = tables.map(\.name) + StoreTable.older
    }

    /// Runs `body`, in which SQLite compiles statements of the library.
    func compiling(_ body: () -> Int32) -> Int32 { self.with(.compiling, body) }

    /// Runs `body`, in which SQLite compiles statements of the library that change the schema.
    ///
    /// In `body` SQLite may read a schema that another program has changed, so the tables must be compared again.
    func changingSchema(_ body: () -> Int32) -> Int32 {
        self.isVerified = false
        self.version = nil
        return self.with(.changingSchema, body)
    }

    /// Records that the tables are the library's, and the version of their schema.
    func setVerified(version: Int64) {
        self.isVerified = true
        self.version = version
        self.wantsVerification = false
    }

    private func with(_ mode: Mode, _ body: () -> Int32) -> Int32 {
        let previous = self.mode
        self.mode = mode
        defer { self.mode = previous }
        self.wantsVerification = false
        return body()
    }

    /// Makes SQLite ask this object before it compiles a statement; the object must outlive the connection.
    func attach(to connection: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sqlite3_set_authorizer(
            connection,
            { context, action, first, second, _, _ in
                guard let context = unsafe context else { return SQLITE_DENY }
                let authorizer = unsafe Unmanaged<Authorizer>.fromOpaque(context).takeUnretainedValue()
                return unsafe authorizer.allows(action, first, second) ? SQLITE_OK : SQLITE_DENY
            },
            context
        )
    }

    private func allows(_ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?) -> Bool {
        switch self.mode {
        case .idle: self.isVerified = false
        case .compiling: break
        case .changingSchema: return Self.isSchemaChange(action)
        }
        switch action {
        case SQLITE_SELECT, SQLITE_TRANSACTION: return true
        case SQLITE_PRAGMA: return unsafe Self.names(Self.pragmas, include: first)
        case SQLITE_FUNCTION: return unsafe Self.names(Self.functions, include: second)
        case SQLITE_READ where unsafe Self.names(Self.schema, include: first): return true
        case SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            guard unsafe Self.names(self.tables, include: first) else { return false }
            if !self.isVerified { self.wantsVerification = true }
            return self.isVerified
        default: return false
        }
    }

    /// Whether a change of the schema may need this action; SQLite itself adds some actions when it alters a table.
    ///
    /// Forbids attaching a database, and creating anything that SQLite would run of its own accord.
    private static func isSchemaChange(_ action: Int32) -> Bool {
        // Not a set: for the first set of a type, the runtime searches all loaded libraries for conformances.
        switch action {
        case SQLITE_SELECT, SQLITE_TRANSACTION, SQLITE_PRAGMA, SQLITE_FUNCTION, SQLITE_READ, SQLITE_INSERT,
            SQLITE_UPDATE, SQLITE_DELETE, SQLITE_CREATE_TABLE, SQLITE_CREATE_INDEX, SQLITE_DROP_TABLE,
            SQLITE_DROP_INDEX, SQLITE_DROP_TRIGGER, SQLITE_ALTER_TABLE, SQLITE_REINDEX, SQLITE_CREATE_TEMP_VIEW,
            SQLITE_DROP_TEMP_VIEW:
            true
        default: false
        }
    }
    private static let schema: [StaticString] = ["sqlite_schema", "sqlite_master"]
    private static let functions: [StaticString] = [
        "coalesce", "count", "max", "min", "sum", "glob", "typeof", "printf",
    ]
    private static let pragmas: [StaticString] = [
        "application_id", "user_version", "page_size", "journal_mode", "integrity_check", "quick_check",
        "wal_autocheckpoint", "synchronous", "journal_size_limit", "mmap_size", "cell_size_check", "temp_store",
        "secure_delete", "cache_spill",
    ]

    private static func names(_ known: [StaticString], include name: UnsafePointer<CChar>?) -> Bool {
        guard let name = unsafe name else { return false }
        // A StaticString literal ends with a zero byte, as a C string does.
        return known.contains {
            unsafe strcmp(name, UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
        }
    }
}
