/// Asks SQLite whether a file is broken.
extension Quarantine {
    /// Whether the file itself is broken, not just one of its rows.
    ///
    /// Reads the whole file through connections of its own. Changes no byte of the database; but `isSchemaMalformed`
    /// may make a log, and make or rebuild the wal-index, so the caller holds the setup lock.
    static func isBroken(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        guard try Self.seemsBroken(file) else { return false }
        try Self.requireBytes(file)
        // The first failure may have been a passing one of the disk: only a second one counts.
        return try Self.seemsBroken(file)
    }

    private static func seemsBroken(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        do throws(BreakerStoreError) {
            let isWhole = try BystanderReader.read(file, acceptsOlder: true) {
                (database) throws(BreakerStoreError) in
                try database.isWhole()
            }
            guard isWhole else { return true }
            return try Self.isSchemaMalformed(file)
        } catch {
            // Only damage counts: not a file that can't be read just now, nor a foreign schema that SQLite understands.
            if error.code == .foreignSchema, try Self.isSchemaMalformed(file) { return true }
            guard error.code == .corrupt else { throw error }
            return true
        }
    }

    /// Whether SQLite can't use the schema.
    ///
    /// A read-only connection does not parse CHECKs (build.c, sqlite3AddCheckConstraint). A connection that may write,
    /// such as a service's, finds the schema malformed if a CHECK in any table calls a function that may do harm.
    private static func isSchemaMalformed(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        let connection = try Connection(path: file.path, access: .readWrite)
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
    /// SQLite reports such a failure as damage, too: vdbe.c turns SQLITE_IOERR_CORRUPTFS into SQLITE_CORRUPT, and the
    /// integrity check turns any error into a line. A disk that fails for a while does not make the file broken.
    private static func requireBytes(_ file: StoreFile) throws(BreakerStoreError) {
        try Connection(path: file.path, access: .immutable).readThrough()
        try LogFile.at(file.log)?.readThrough()
    }
}
