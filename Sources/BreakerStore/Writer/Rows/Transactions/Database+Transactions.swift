/// Transactions that wait for the write lock, and further connections to the file.
extension Database {
    /// Locks the file for writing; false once `isOver` returns true while another connection has the lock.
    ///
    /// Blocks the thread until then. Always IMMEDIATE: a read transaction that begins to write later can't be retried
    /// (https://sqlite.org/rescode.html#busy_snapshot).
    func begin(unless isOver: () -> Bool) throws(BreakerStoreError) -> Bool {
        while try !self.beginAtOnce() {
            if isOver() { return false }
            Deadline(after: .milliseconds(1)).pause()
        }
        return true
    }

    /// Locks the file for writing; false if another connection has it locked.
    func beginAtOnce() throws(BreakerStoreError) -> Bool {
        let code = try self.code("BEGIN IMMEDIATE")
        switch code & 0xff {
        case Self.done: return true
        case Self.busy: return false
        default: throw self.error(code)
        }
    }

    /// Opens another connection to an open store, for reads and checkpoints.
    ///
    /// Throws unless the files at the store's paths are those of `identity`.
    static func sharing(
        _ file: StoreFile, as identity: FileIdentity, syncs: Bool = true
    ) throws(BreakerStoreError) -> Database {
        let database = Database(try Connection(path: file.path, access: .sharing, syncs: syncs))
        guard database.isOpen(at: file, as: identity) else { throw .moved(file.path) }
        try database.connection.configureForReading()
        // The first read opens the log; `user_version` does it without reading the schema. Without an open log a
        // checkpoint copies nothing, and there is no header of the wal-index.
        _ = try database.connection.integer("PRAGMA user_version")
        guard FileIdentity(of: file).hasAll(of: identity) else { throw .moved(file.path) }
        return database
    }

    /// Whether the connection has opened the store's database, and no other file that had its name for a moment.
    ///
    /// Called before the first statement. SQLite opens a database by its name, and would read the other file through
    /// the store's log, and copy the log into it.
    func isOpen(at file: StoreFile, as identity: FileIdentity) -> Bool {
        // The store's database is at the path before and after, and in between `hasMoved` finds the open file at the
        // path. So the store's database is the open file.
        identity.hasDatabase(of: file) && !self.connection.hasMoved && identity.hasDatabase(of: file)
    }

    /// Runs `body` in a transaction of its own.
    func transaction<Value>(
        until deadline: Deadline,
        _ body: () throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        guard try self.begin(unless: { deadline.isOver }) else { throw .busy(self.connection.path) }
        do throws(BreakerStoreError) {
            let value = try body()
            try self.run("COMMIT")
            return value
        } catch {
            self.rollback()
            throw error
        }
    }

    /// Rolls back an open transaction; after some errors SQLite itself has done so.
    func rollback() {
        if self.connection.isInTransaction { _ = try? self.code("ROLLBACK") }
    }

    /// Copies the log into the database, under the write lock of this connection, through `other`.
    ///
    /// Before SQLite 3.51.3 a commit inside a checkpoint can corrupt the file, so the write lock keeps all writers
    /// away. The caller syncs the log first: otherwise SQLite would sync the log while this connection holds the lock.
    func checkpoint(through other: Database, until deadline: Deadline) throws(BreakerStoreError) {
        try other.connection.configureForWriting()
        guard try self.begin(unless: { deadline.isOver }) else { return }
        defer { self.rollback() }
        Hook.reached("checkpoint.locked")
        try other.connection.passiveCheckpoint()
        Hook.reached("checkpoint.done")
    }
}
