/// Checks a whole file through SQLite.
extension Database {
    /// The result of SQLite's check of the whole file.
    enum Condition {
        case sound
        /// The file has bad values, each of which makes only its own row unusable.
        case hasBadRows
        case broken
    }

    /// Whether the store has no damage but bad values.
    func isWhole() throws(BreakerStoreError) -> Bool { try self.condition() != .broken }

    /// Checks the schema and all rows; throws the errors of `Schema.verify` if the tables are not the library's.
    func condition() throws(BreakerStoreError) -> Condition {
        // The schema is compared first: SQLite evaluates its expressions while it checks the rows.
        try self.connection.verifySchema()
        try self.connection.viewOlderTables()
        try self.requireShortKeys()
        let lines = try self.damage(quickly: false)
        return lines.isEmpty ? .sound : lines.allSatisfy(Self.concernsValue) ? .hasBadRows : .broken
    }

    /// Throws `corrupt` if an indexed value is longer than `longestKey`: SQLite could not even delete its row.
    ///
    /// To compare such a value or delete it, SQLite would have to read all of it. This check does not use the indexes:
    /// so SQLite reads only a value's length. Skipped for files too small to have such a value.
    func requireShortKeys(
        of tables: @autoclosure () -> [TableColumns] = TableColumns.current
    ) throws(BreakerStoreError) {
        let path = self.connection.path
        guard StoreFile.bytes(at: path) > Int64(Connection.longestKey) else { return }
        do throws(BreakerStoreError) {
            try self.connection.withLongTexts { () throws(BreakerStoreError) in try self.read(\.keys, of: tables()) }
        } catch {
            guard error.isOfRefusedValue else { throw error }
            throw BreakerStoreError(
                code: .corrupt, message: "the file is damaged: a key is longer than any row may be",
                sqliteCode: error.sqliteCode, path: path)
        }
    }

    /// Throws SQLite's `SQLITE_TOOBIG` if a row holds a text that is too long to be read.
    func requireShortTexts(of tables: [TableColumns] = TableColumns.current) throws(BreakerStoreError) {
        try self.read(\.texts, of: tables)
    }

    private func read(_ part: (TableColumns) -> [String], of tables: [TableColumns]) throws(BreakerStoreError) {
        for table in tables {
            let counts = TableColumns.list(part(table), " + ") { "count(\($0))" }
            guard !counts.isEmpty else { continue }
            _ = try self.connection.integer("SELECT \(counts) FROM \(table.table) NOT INDEXED")
        }
    }

    /// Whether a line of SQLite's check is about one value of a row, and about nothing else.
    static func concernsValue(_ line: String) -> Bool {
        line.hasPrefix("CHECK constraint failed in ") || line.contains(" value in ")
    }

    /// The lines of SQLite's check, without "ok".
    ///
    /// - Parameters:
    ///   - quickly: whether to leave out the check of the indexes.
    ///   - limit: the most lines that are returned.
    func damage(quickly: Bool, atMost limit: Int = 100) throws(BreakerStoreError) -> [String] {
        let check = quickly ? "quick_check" : "integrity_check"
        let hasOthers = try self.connection.verifySchema()
        if !hasOthers { return try self.lines("PRAGMA \(check)(\(limit))", atMost: limit) }
        // SQLite checks the library's tables alone: an expression in another program's table could take any time.
        var lines: [String] = []
        for table in try Schema.tables(ofVersion: self.connection.schemaVersion()) where lines.count < limit {
            lines += try self.lines("PRAGMA main.\(check)(\(table))", atMost: limit - lines.count)
        }
        return lines
    }

    private func lines(_ pragma: String, atMost limit: Int) throws(BreakerStoreError) -> [String] {
        var lines: [String] = []
        do throws(BreakerStoreError) {
            let statement = try self.connection.prepare(pragma)
            try statement.forEach([]) { row in
                if lines.count < limit { lines.append(row.text(0)) }
            }
        } catch {
            // A value that is too long to be read makes only its own row unusable, and SQLite has checked the pages
            // before the rows.
            guard error.sqliteCode.map(SQLiteCode.isOfValue) == true else { throw error }
        }
        return lines.filter { $0 != "ok" }
    }
}
