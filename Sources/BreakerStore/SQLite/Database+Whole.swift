/// Checks a whole file through SQLite.
extension Database {
    /// What SQLite's check of the whole file finds.
    enum Condition {
        case sound
        /// Bad values, each of which harms its own row alone.
        case hasBadRows
        case broken
    }

    /// Whether the store has no damage but bad values.
    func isWhole() throws(BreakerStoreError) -> Bool { try self.condition() != .broken }

    /// Throws the errors of `Schema.verify` if the tables are not the library's.
    func condition() throws(BreakerStoreError) -> Condition {
        // The schema's texts come first: SQLite evaluates the expressions in them while it checks the rows.
        try self.connection.verifySchema()
        try self.connection.viewOlderTables()
        try self.requireShortKeys()
        let lines = try self.damage(quickly: false)
        return lines.isEmpty ? .sound : lines.allSatisfy(Self.isOfARow) ? .hasBadRows : .broken
    }

    /// Throws `corrupt` if an indexed value is longer than `longestKey`: SQLite could not even delete its row.
    ///
    /// To compare such a value or delete it, SQLite would have to read all of it. Without the indexes SQLite sees a
    /// value's length and reads nothing of the value. Skipped for files too small to have such a value.
    func requireShortKeys(
        of tables: @autoclosure () -> [TableColumns] = TableColumns.current
    ) throws(BreakerStoreError) {
        let path = self.connection.path
        guard StoreFile.bytes(at: path) > Int64(Connection.longestKey) else { return }
        do throws(BreakerStoreError) {
            try self.connection.withLongTexts { () throws(BreakerStoreError) in try self.lookAt(\.keys, of: tables()) }
        } catch {
            guard error.isOfRefusedValue else { throw error }
            throw BreakerStoreError(
                code: .corrupt, message: "the file is damaged: a key is longer than any row may be",
                sqliteCode: error.sqliteCode, path: path)
        }
    }

    /// Throws SQLite's `SQLITE_TOOBIG` if a row holds a text that is too long to be read.
    func requireShortTexts(of tables: [TableColumns] = TableColumns.current) throws(BreakerStoreError) {
        try self.lookAt(\.texts, of: tables)
    }

    private func lookAt(_ part: (TableColumns) -> [String], of tables: [TableColumns]) throws(BreakerStoreError) {
        for table in tables {
            let counts = TableColumns.list(part(table), " + ") { "count(\($0))" }
            guard !counts.isEmpty else { continue }
            _ = try self.connection.integer("SELECT \(counts) FROM \(table.table) NOT INDEXED")
        }
    }

    /// Whether a line of SQLite's check is about a value in a row, and about nothing else.
    static func isOfARow(_ line: String) -> Bool {
        line.hasPrefix("CHECK constraint failed in ") || line.contains(" value in ")
    }

    /// The lines of SQLite's check, without "ok".
    ///
    /// - Parameters:
    ///   - quickly: whether to leave out the check of the indexes.
    ///   - most: the most lines that are returned.
    func damage(quickly: Bool, atMost most: Int = 100) throws(BreakerStoreError) -> [String] {
        let check = quickly ? "quick_check" : "integrity_check"
        let hasOthers = try self.connection.verifySchema()
        if !hasOthers { return try self.lines("PRAGMA \(check)(\(most))", atMost: most) }
        // SQLite checks the library's tables alone: an expression in another program's table could take any time.
        var lines: [String] = []
        for table in try Schema.tables(ofVersion: self.connection.schemaVersion()) where lines.count < most {
            lines += try self.lines("PRAGMA main.\(check)(\(table))", atMost: most - lines.count)
        }
        return lines
    }

    private func lines(_ pragma: String, atMost most: Int) throws(BreakerStoreError) -> [String] {
        var lines: [String] = []
        do throws(BreakerStoreError) {
            let statement = try self.connection.prepare(pragma)
            try statement.forEach([]) { row in
                if lines.count < most { lines.append(row.text(0)) }
            }
        } catch {
            // A value that is too long to be read harms its own row alone. SQLite checks the pages before the rows.
            guard error.sqliteCode.map(SQLiteCode.isOfValue) == true else { throw error }
        }
        return lines.filter { $0 != "ok" }
    }
}
