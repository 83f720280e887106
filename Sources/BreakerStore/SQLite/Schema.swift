import BreakerStoreMigrations

/// The schema of a store's file: recognising it, creating it, bringing it up to date.
enum Schema {
    /// "BrkS": what `file` and SQLite know a store by.
    static let applicationID: Int64 = 0x4272_6B53
    static let version = Int64(Migration.all.last?.version ?? 0)

    private static let stepsOfAMajor: Int64 = 1000

    /// What a path leads to.
    enum Finding: Equatable {
        /// Nothing, an empty file, or a store whose creation was cut short.
        case new
        case store
    }

    /// Looks at the file without changing a byte; throws if it is somebody else's or of a later major version.
    static func recognise(_ file: StoreFile) throws(BreakerStoreError) -> Finding {
        guard let size = StoreFile.size(file.path), size > 0 else { return .new }
        let isOurs: Bool
        do throws(BreakerStoreError) {
            // The header alone: a store carries its id there before it ever has a log.
            let header = try Connection(path: file.path, access: .immutable)
            let id = try header.integer("PRAGMA application_id")
            isOurs = id == Self.applicationID
            if id == 0, try header.integer("SELECT count(*) FROM sqlite_schema") == 0, !Self.hasContentBeside(file) {
                return .new
            }
        } catch {
            throw error.code == .corrupt ? Self.stranger(file, "it is not an SQLite database") : error
        }
        guard isOurs else { throw Self.stranger(file, "it is the database of another program") }
        try Self.requireKnownVersion(try StoreReader(file).database.connection.integer("PRAGMA user_version"), of: file)
        return .store
    }

    /// Minor versions only add: a file of a later one is usable, so that going back to an older program stops no service.
    static func requireKnownVersion(_ version: Int64, of file: StoreFile) throws(BreakerStoreError) {
        guard version / Self.stepsOfAMajor <= Self.version / Self.stepsOfAMajor else {
            throw BreakerStoreError(
                code: .newerSchema,
                message:
                    "the file has schema \(version / Self.stepsOfAMajor).\(version % Self.stepsOfAMajor), this program "
                    + "knows up to \(Self.version / Self.stepsOfAMajor).x; update the program or name another path",
                path: file.path
            )
        }
    }

    /// Creates the tables, or adds what later versions added: each in one transaction, so that a kill leaves none half done.
    static func migrate(_ connection: borrowing Connection, _ file: StoreFile) throws(BreakerStoreError) {
        let version = try connection.integer("PRAGMA user_version")
        try Self.requireKnownVersion(version, of: file)
        guard version < Self.version else { return }
        Hook.reached("migration.begin")
        try connection.execute("BEGIN IMMEDIATE")
        do throws(BreakerStoreError) {
            if version == 0 { try connection.execute("PRAGMA application_id = \(Self.applicationID)") }
            for migration in Migration.all where Int64(migration.version) > version {
                Hook.reached("migration.step")
                try connection.execute(String(decoding: migration.sql, as: UTF8.self))
            }
            try connection.execute("PRAGMA user_version = \(Self.version)")
            Hook.reached("migration.commit")
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
        Hook.reached("migration.done")
    }

    private static func hasContentBeside(_ file: StoreFile) -> Bool {
        [file.log, file.journal].contains { (StoreFile.size($0) ?? 0) > 0 }
    }

    private static func stranger(_ file: StoreFile, _ what: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .notAStore,
            message: "\(what), not a store of circuits; it was left as it is; name another path",
            path: file.path
        )
    }
}
