import BreakerStoreMigrations

/// Compares a file's tables and indexes with the library's, byte for byte.
extension Schema {
    /// The schema rows that all steps together make; a test compares them with SQLite's.
    static let rows = SchemaRow.all(in: Migration.expectedRows) ?? []
    // Not a set: for the first set of a type, the runtime searches all loaded libraries for conformances.
    private static let names = Self.rows.map { SchemaRow.folded($0.name) }

    /// The schema rows of each earlier version that is migrated, made once per process.
    private static let older = Migration.all.dropLast().map { step in
        (version: Int64(step.version), rows: try? Self.rows(madeUpTo: step.version))
    }

    private static func rows(madeUpTo version: Int32) throws(BreakerStoreError) -> [SchemaRow] {
        let memory = try Connection(path: ":memory:", access: .readWrite)
        for part in Migration.all.filter({ $0.version <= version }).flatMap(\.parts) {
            try memory.changeSchema(part)
        }
        return try memory.prepare(SchemaRow.all).all { SchemaRow($0) }.filter { !$0.isOwnIndexOfSQLite }
    }

    /// The library's tables and indexes in a file of this version.
    ///
    /// For a later minor version, which this build does not know: this build's rows.
    static func rows(ofVersion version: Int64) throws(BreakerStoreError) -> [SchemaRow] {
        guard version < Self.version else { return Self.rows }
        return Self.older.last { $0.version <= version }?.rows ?? []
    }

    /// The names of the library's tables in a file of this version.
    static func tables(ofVersion version: Int64) throws(BreakerStoreError) -> [String] {
        try Self.rows(ofVersion: version).filter { $0.isOf(type: "table") }.map(\.shownName)
    }

    /// The names of the triggers on the library's tables.
    static func triggers(in connection: borrowing Connection) throws(BreakerStoreError) -> [String] {
        try connection.prepare(SchemaRow.all).all { SchemaRow($0) { _ in false } }.filter { row in
            row.isOf(type: "trigger") && Self.names.contains(SchemaRow.folded(row.table))
        }.map(\.shownName)
    }

    /// Compares a connection's tables with the library's; until then its statements may touch no table.
    ///
    /// Throws `newerSchema` for a later major version, whatever its tables are, and `olderSchema` for one that is too
    /// old to be migrated. Throws `foreignSchema` if a table or an index of the library is missing or differs, or if
    /// another program's index is on one of the library's tables. Throws `unavailable` for an older major version
    /// unless the authorizer accepts it. Other programs' tables, views and triggers do no harm, since the library's
    /// statements never run them.
    ///
    /// - Returns: whether other programs have added to the schema.
    @discardableResult
    static func verify(
        _ database: OpaquePointer,
        _ authorizer: Authorizer,
        path: String
    ) throws(BreakerStoreError) -> Bool {
        func version() throws(BreakerStoreError) -> Int64 {
            try unsafe Statement("PRAGMA user_version", on: database, authorizer, path: path)
                .first { $0.integer(0) } ?? 0
        }
        var found = try version()
        while true {
            try Self.requireKnownVersion(found, path)
            do throws(BreakerStoreError) {
                let schema = try unsafe Statement(SchemaRow.all, on: database, authorizer, path: path)
                let hasOthers = try Self.compare(schema, version: found, path)
                guard found >= Self.oldestRead || authorizer.acceptsOlder else { throw Self.unreadable(found, path) }
                authorizer.setVerified(version: found)
                return hasOthers
            } catch {
                // Another process may have migrated the file between the two statements.
                let now = try version()
                guard now != found else { throw error }
                found = now
            }
        }
    }

    /// Throws `foreignSchema` unless the rows are this version's; returns whether other programs have added rows.
    ///
    /// - Parameter schema: `SchemaRow.all`, on the connection to the file.
    private static func compare(
        _ schema: borrowing Statement, version: Int64, _ path: String
    ) throws(BreakerStoreError) -> Bool {
        var missing = try Self.rows(ofVersion: version)
        // An older file has names that are no longer used, and its migration needs further names.
        let isOlder = version < Self.version
        let older = isOlder ? Self.older.flatMap { $0.rows ?? [] } : []
        let names = Self.names + older.map { SchemaRow.folded($0.name) }
        func mustBeCompared(_ row: SchemaRow) -> Bool {
            Self.mustBeCompared(row, names)
                || isOlder && SchemaRow.folded(row.name).starts(with: Self.prefixDuringMigration.utf8)
        }
        var addedIndex: SchemaRow?
        var hasOthers = false
        try schema.forEach([]) { (row) throws(BreakerStoreError) in
            let found = SchemaRow(row, readsText: mustBeCompared)
            if let index = missing.firstIndex(of: found) {
                missing.remove(at: index)
            } else if !mustBeCompared(found) {
                hasOthers = true
            } else if names.contains(SchemaRow.folded(found.name)) || !names.contains(SchemaRow.folded(found.table)) {
                // The row has a name of the library, or one that the migration of an older file needs, on any table.
                throw Self.foreign("\(Self.title(found)) is not as this library makes it", path)
            } else if !found.isOwnIndexOfSQLite {
                addedIndex = addedIndex ?? found
            }
        }
        if let missing = missing.first { throw Self.foreign("\(Self.title(missing)) is missing", path) }
        guard let addedIndex else { return hasOthers }
        throw Self.foreign(
            "\(Self.title(addedIndex)), which another program has put on a table of the store, may refuse rows", path,
            advice: "drop index \(addedIndex.shownName)")
    }

    /// Whether a row has a name of the library, even one that only a later step uses, or is about a table of the
    /// library; triggers have their own names and never run.
    private static func mustBeCompared(_ row: SchemaRow, _ names: [[UInt8]]) -> Bool {
        !row.isOf(type: "trigger")
            && (names.contains(SchemaRow.folded(row.name)) || names.contains(SchemaRow.folded(row.table)))
    }

    /// The prefix of the names that an older file's tables have while a migration copies their rows.
    private static let prefixDuringMigration = "breakerstore_2_"

    private static func title(_ row: SchemaRow) -> String {
        "the \(String(decoding: row.type, as: UTF8.self)) \(row.shownName.quoted)"
    }

    private static func unreadable(_ version: Int64, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .unavailable,
            message: "the file has schema \(Versions.text(ofSchema: version)), which this program can't read",
            advice: "open it once with a service of this release, which moves it to schema \(Versions.schema)",
            path: path)
    }

    private static func foreign(
        _ what: String, _ path: String,
        advice: String = "move the file, its -wal and -shm away ('breaker-inspect set-aside'); services start a new one"
    ) -> BreakerStoreError {
        BreakerStoreError(
            code: .foreignSchema, message: "the file is not used: \(what)", advice: advice, path: path)
    }
}

extension Connection {
    /// Makes temporary views through which the library's statements can read the tables of an older major version.
    ///
    /// The views have this version's names and columns. Does nothing in a file of this version.
    func viewOlderTables() throws(BreakerStoreError) {
        let version = try self.schemaVersion()
        guard version < Schema.oldestRead else { return }
        try self.changeSchema("PRAGMA temp_store = MEMORY")
        try self.changeSchema(Migration.views(ofTablesNamed: ""))
        if version < Schema.firstWithPredecessor { try self.changeSchema(Migration.viewWithoutPredecessor) }
    }
}
