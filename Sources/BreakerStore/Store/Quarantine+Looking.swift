/// Looking whether a file is broken, through SQLite.
extension Quarantine {
    /// Whether the file itself is broken, not just a row of it.
    ///
    /// Reads the whole file through a connection of its own that changes nothing. Whoever else the file may belong to,
    /// by its header, it is left alone.
    func isDue() throws(BreakerStoreError) -> Bool {
        let size = StoreFile.size(self.file.path) ?? 0
        guard size > 0 else { return false }
        // SQLite takes a file of one byte for an empty one (os_unix.c, unixFileSize), and deletes the log of an empty
        // one, even where it only reads (pager.c, pagerOpenWalIfPresent).
        guard size > 1 else { return true }
        // What a journal is to roll back can't be read as it is.
        guard StoreFile.size(self.file.journal) ?? 0 == 0 else { return false }
        if let header = try DatabaseHeader(of: self.file) {
            guard header.applicationID == Schema.applicationID else { return false }
            if !header.isWritable { return true }
        }
        guard try self.isBroken() else { return false }
        try self.requireBytes()
        // The system may have come to its senses in between.
        return try self.isBroken()
    }

    private func isBroken() throws(BreakerStoreError) -> Bool {
        do throws(BreakerStoreError) {
            return try BystanderReader.read(self.file) { (database) throws(BreakerStoreError) in
                try !database.isWhole()
            }
        } catch {
            // Not that it can't be read just now: that it can't be a database.
            guard error.code == .corrupt else { throw error }
            return true
        }
    }

    /// SQLite calls it damage, too, when the system fails to read (vdbe.c makes SQLITE_CORRUPT of
    /// SQLITE_IOERR_CORRUPTFS, the integrity check a line of any error): what is wrong with the disk for a while is not
    /// wrong with the file.
    private func requireBytes() throws(BreakerStoreError) {
        try Connection(path: self.file.path, access: .immutable).readThrough()
        try LogFile.at(self.file.log)?.readThrough()
    }
}
