/// Keeps free pages in the database and as many blocks in the log, so that the store works on a full disk.
struct Reserve {
    /// How many free pages the database keeps; the log keeps at least as many blocks.
    static let pages: Int64 = 256
    private static let table = "CREATE TABLE reserve (filler BLOB NOT NULL) STRICT"

    private let writer: Database
    private let facts: OpeningFacts
    private let deadline: Deadline

    /// Makes a value for the files that `writer` has open, with their facts.
    init(_ writer: Database, _ facts: OpeningFacts, _ deadline: Deadline) {
        (self.writer, self.facts, self.deadline) = (writer, facts, deadline)
    }

    /// Fills the pages and the log once, so that the file system has allocated their blocks from then on.
    ///
    /// If the disk has no room for the reserve, the store works without it.
    func fill(syncs: Bool) throws(BreakerStoreError) {
        let pageSize = try self.writer.connection.integer("PRAGMA page_size")
        let size = Self.pages * pageSize
        guard self.isDue(size), self.isWithinLimit(size), try self.isTableOurs() else { return }
        do throws(BreakerStoreError) {
            // Two transactions: SQLite would not write pages that one transaction both fills and frees.
            try self.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                try self.makeTable(pageSize)
            }
            Hook.reached("creation.filled")
            try self.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                try self.writer.connection.changeSchema("DROP TABLE reserve")
            }
            Hook.reached("creation.freed")
            let checkpointer = try Database.sharing(self.facts.file, as: self.facts.identity, syncs: syncs)
            try checkpointer.connection.syncLog()
            try self.writer.checkpoint(through: checkpointer, until: self.deadline)
        } catch {
            guard error.code == .full else { throw error }
        }
    }

    /// Whether the reserve must be filled: its table is left over, or the database or the log is short.
    ///
    /// A process that is killed half-way leaves the table. A process that is killed before the checkpoint leaves the
    /// database short: the pages are only in the log. The sqlite3 shell deletes the log if the shell is the last to
    /// close the file.
    private func isDue(_ size: Int64) -> Bool {
        self.writer.connection.hasTable("reserve")
            || self.facts.database?.size ?? 0 < size || self.facts.log?.size ?? 0 < size
    }

    /// Whether this process may write files that are longer by twice the reserve (`ulimit -f`).
    ///
    /// A log that is filled to the limit has no room for the transactions of the opening, and a checkpoint can't copy
    /// the log into a database that is at the limit.
    private func isWithinLimit(_ size: Int64) -> Bool {
        let longest = max(self.facts.database?.size ?? 0, self.facts.log?.size ?? 0)
        return OpenFile.refreshSizeLimit().subtractingSaturating(longest) >= 2 * size
    }

    /// Whether nothing but the reserve's own table has the name `reserve`, so that the table may be made and dropped.
    ///
    /// If another program has used the name, the store works without the reserve until the disk is full.
    private func isTableOurs() throws(BreakerStoreError) -> Bool {
        try self.writer.connection.integer(
            """
            SELECT count(*) FROM sqlite_schema
            WHERE name = 'reserve' COLLATE NOCASE AND type <> 'trigger' AND sql IS NOT '\(Self.table)'
            """
        ) == 0
    }

    private func makeTable(_ pageSize: Int64) throws(BreakerStoreError) {
        // A killed process may have left its table.
        try self.writer.connection.changeSchema("DROP TABLE IF EXISTS reserve; \(Self.table)")
        // One page a row, since the connection limits the length of a row.
        try self.writer.connection.changeSchema("INSERT INTO reserve VALUES (zeroblob(\(pageSize)))")
        var pages: Int64 = 1
        while pages < Self.pages {
            let added = min(pages, Self.pages - pages)
            try self.writer.connection.changeSchema("INSERT INTO reserve SELECT filler FROM reserve LIMIT \(added)")
            pages += added
        }
    }
}
