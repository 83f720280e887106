import CSQLite

/// Copies and truncates the write-ahead log.
extension Connection {
    /// Copies as much of the log into the database as it can without waiting.
    ///
    /// Before SQLite 3.51.3 a commit during a checkpoint can corrupt the file
    /// (https://sqlite.org/wal.html#walresetbug), so the caller must keep writers away.
    func passiveCheckpoint() throws(BreakerStoreError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(self.handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw self.error(code) }
    }

    /// Lets SQLite truncate the log to this many frames when this connection next restarts it; nil removes the limit.
    ///
    /// "Each time a transaction is committed or a WAL file resets, SQLite compares the size of the rollback journal
    /// file or WAL file left in the file-system to the size limit set by this pragma"
    /// (https://sqlite.org/pragma.html#pragma_journal_size_limit). The pragma makes no checkpoint.
    func limitLog(to frames: Int64?) throws(BreakerStoreError) {
        var bytes: Int64 = -1
        if let frames { bytes = LogFile.bytes(ofFrames: frames, pageSize: try self.integer("PRAGMA page_size")) }
        try self.execute("PRAGMA journal_size_limit = \(bytes)")
    }
}
