/// Looks through SQLite whether a file is broken.
extension Quarantine {
    /// Whether the file itself is broken, not just a row of it.
    ///
    /// Reads the whole file through a connection of its own that changes nothing. A file that belongs to another
    /// program by its header is left alone.
    func isDue() throws(BreakerStoreError) -> Bool {
        let size = StoreFile.size(self.file.path) ?? 0
        guard size > 0 else { return false }
        // SQLite takes a file of one byte for an empty one (os_unix.c, unixFileSize), and deletes the log of an empty
        // one, even where it only reads (pager.c, pagerOpenWalIfPresent).
        guard size > 1 else { return true }
        // SQLite must roll back such a journal before the file can be judged.
        guard StoreFile.size(self.file.journal) ?? 0 == 0 else { return false }
        if let header = try DatabaseHeader(of: self.file) {
            guard header.applicationID == Schema.applicationID else { return false }
            if !header.isWritable { return true }
        }
        guard try self.isBroken() else { return false }
        try self.requireBytes()
        // The first failure may have come from the system, and be over.
        return try self.isBroken()
    }

    private func isBroken() throws(BreakerStoreError) -> Bool {
        do throws(BreakerStoreError) {
            let isWhole = try BystanderReader.read(self.file, acceptsOlder: true) {
                (database) throws(BreakerStoreError) in
                try database.isWhole()
            }
            guard isWhole else { return true }
            return try self.isSchemaMalformed()
        } catch {
            // Only damage counts, not that the file can't be read just now, nor texts that SQLite understands.
            if error.code == .foreignSchema, try self.isSchemaMalformed() { return true }
            guard error.code == .corrupt else { throw error }
            return true
        }
    }

    /// Whether SQLite can't use the schema.
    ///
    /// A connection that only reads leaves CHECKs unread (build.c, sqlite3AddCheckConstraint). One that may write, as a
    /// service has it, finds the schema malformed where a CHECK in any table has a function that may do harm.
    private func isSchemaMalformed() throws(BreakerStoreError) -> Bool {
        let connection = try Connection(path: self.file.path, access: .readWrite)
        do throws(BreakerStoreError) {
            _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
            return false
        } catch {
            guard error.code == .corrupt else { throw error }
            return true
        }
    }

    /// Throws if the system can't read the bytes of the files.
    ///
    /// SQLite calls such a failure damage, too: vdbe.c makes SQLITE_CORRUPT of SQLITE_IOERR_CORRUPTFS, and the
    /// integrity check makes a line of any error. A disk that fails for a while does not make the file broken.
    private func requireBytes() throws(BreakerStoreError) {
        try Connection(path: self.file.path, access: .immutable).readThrough()
        try LogFile.at(self.file.log)?.readThrough()
    }
}
