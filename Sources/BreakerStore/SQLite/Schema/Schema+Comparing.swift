import BreakerStoreMigrations

/// Comparing a file's tables and indexes with the library's, byte for byte.
extension Schema {
    /// What all steps make; a test holds this against SQLite.
    static let rows = SchemaRow.all(in: Migration.made) ?? []
    // Not a set: for the first one of a type the runtime looks for conformances in all libraries that are loaded.
    private static let names = Self.rows.map { SchemaRow.folded($0.name) }

    /// What the steps before this version make; each is made once in a process.
    private static let older = Migration.all.dropLast().map { step in
        (version: Int64(step.version), rows: try? Self.rows(madeUpTo: step.version))
    }

    private static func rows(madeUpTo version: Int32) throws(BreakerStoreError) -> [SchemaRow] {
        let memory = try Connection(path: ":memory:", access: .readWrite)
        for part in Migration.all.filter({ $0.version <= version }).flatMap(\.parts) {
            try memory.changeSchema(String(decoding: part, as: UTF8.self))
        }
        return try memory.prepare(SchemaRow.all).all { SchemaRow($0) }.filter { !$0.isOwnIndexOfSQLite }
    }

    /// The tables and indexes of a file of this version; those of its own in a file of a later minor version, which
    /// only adds tables.
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

    /// Compares a connection's tables with those of the library: the connection's statements are refused until then.
    ///
    /// Throws `newerSchema` for a later major version, whatever its tables are, and `foreignSchema` if a table or an
    /// index of the library is missing or is another one, or if somebody else's index is on one of the tables. Tables,
    /// views and triggers of others do no harm, for nothing of them is ever run.
    ///
    /// - Returns: whether there is anything of others.
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
                guard found >= Self.oldestRead || authorizer.acceptsOlder else { throw Self.older(found, path) }
                authorizer.verified(version: found)
                return hasOthers
            } catch {
                // Another process may have brought the file up to date between the two statements.
                let now = try version()
                guard now != found else { throw error }
                found = now
            }
        }
    }

    /// Throws `foreignSchema` unless the rows are those of a file of this version; returns whether there are others.
    ///
    /// - Parameter schema: `SchemaRow.all`, on the connection to the file.
    private static func compare(
        _ schema: borrowing Statement, version: Int64, _ path: String
    ) throws(BreakerStoreError) -> Bool {
        var missing = try Self.rows(ofVersion: version)
        // An older file has names that are no longer used, and its move needs more of them.
        let isOlder = version < Self.version
        let older = isOlder ? Self.older.flatMap { $0.rows ?? [] } : []
        let names = Self.names + older.map { SchemaRow.folded($0.name) }
        func isToBeCompared(_ row: SchemaRow) -> Bool {
            Self.isToBeCompared(row, names)
                || isOlder && SchemaRow.folded(row.name).starts(with: Self.prefixOfTheMoved.utf8)
        }
        var addedIndex: SchemaRow?
        var hasOthers = false
        try schema.forEach([]) { (row) throws(BreakerStoreError) in
            let found = SchemaRow(row, readsText: isToBeCompared)
            if let place = missing.firstIndex(of: found) {
                missing.remove(at: place)
            } else if !isToBeCompared(found) {
                hasOthers = true
                // A name that the move of an older file needs is taken, though it is on none of the library's tables.
            } else if names.contains(SchemaRow.folded(found.name)) || !names.contains(SchemaRow.folded(found.table)) {
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

    /// Whether a row has a name of the library's, also one that only a later step uses, or is about a table of the
    /// library; triggers have names of their own and never run.
    private static func isToBeCompared(_ row: SchemaRow, _ names: [[UInt8]]) -> Bool {
        !row.isOf(type: "trigger")
            && (names.contains(SchemaRow.folded(row.name)) || names.contains(SchemaRow.folded(row.table)))
    }

    /// What the tables of an older file are called while their rows are copied.
    private static let prefixOfTheMoved = "breakerstore_1_"

    private static func title(_ row: SchemaRow) -> String {
        "the \(String(decoding: row.type, as: UTF8.self)) \(row.shownName.quoted)"
    }

    private static func older(_ version: Int64, _ path: String) -> BreakerStoreError {
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
