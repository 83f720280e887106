import BreakerStoreMigrations

/// Recognises, creates and migrates the schema of a store's file.
enum Schema {
    /// "BrkS": SQLite and the program `file` recognise a store by this number.
    static let applicationID: Int64 = 0x4272_6B53
    static let version = Int64(Migration.all.last?.version ?? 0)

    static let stepsOfAMajor: Int64 = 1000
    /// The oldest version whose tables are read directly: files of an older major version are migrated first, or read
    /// through `Connection.viewOlderTables`.
    static let oldestRead = Self.version / Self.stepsOfAMajor * Self.stepsOfAMajor
    static let firstWithPredecessor: Int64 = 2001
    /// The oldest version that is migrated.
    private static let oldestMigrated = Int64(Migration.all.first?.version ?? 0)

    static func isKnown(_ version: Int64) -> Bool {
        version / Self.stepsOfAMajor <= Self.version / Self.stepsOfAMajor
    }

    /// Throws `newerSchema` for a later major version, and `olderSchema` for one that is too old to be migrated.
    ///
    /// A minor version only adds to the schema, so files of a later minor version are usable: a service still works
    /// after a rollback to an older program.
    static func requireKnownVersion(_ version: Int64, _ path: String) throws(BreakerStoreError) {
        if let refusal = Self.refusal(of: version, path) { throw refusal }
    }

    /// Why a file of this version can't be used, not even after a migration; nil if it can.
    static func refusal(of version: Int64, _ path: String) -> BreakerStoreError? {
        guard Self.isKnown(version) else { return Self.newer(version, path) }
        guard version > 0, version < Self.oldestMigrated else { return nil }
        return BreakerStoreError(
            code: .olderSchema,
            message: "the file has schema \(Versions.text(ofSchema: version)), which this release no longer migrates",
            advice: "open it once with release 0.5, which moves it to schema 2; or move its files away "
                + "('breaker-inspect set-aside'): then the circuits begin closed",
            path: path)
    }

    static func newer(_ version: Int64, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .newerSchema,
            message:
                "the file has schema \(Versions.text(ofSchema: version)), this program knows up to "
                + "\(Self.version / Self.stepsOfAMajor).x",
            advice: "update the program or name another path",
            path: path
        )
    }

    /// The error for a file that this process may not migrate.
    static func older(_ version: Int64, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .olderSchema,
            message: "the file has schema \(Versions.text(ofSchema: version)), and this process may not migrate it",
            advice: "open it once with a process of this release that may (migration .automatic), which moves it to "
                + "schema \(Versions.schema) for good; or go on with the release that made it",
            path: path)
    }

    /// Creates the tables, or migrates an older file, in one transaction, so that a kill leaves nothing half done.
    ///
    /// - Parameters:
    ///   - mayCreate: whether an empty file may become a store.
    ///   - mayMigrate: whether an older file's rows may be migrated.
    /// - Returns: the names of other programs' triggers that were dropped with the library's older tables.
    static func migrate(
        _ connection: borrowing Connection,
        _ file: StoreFile,
        mayCreate: Bool = true,
        mayMigrate: Bool = true,
        steps: [Migration] = Migration.all
    ) throws(BreakerStoreError) -> [String] {
        let target = Int64(steps.last?.version ?? 0)
        let version = try connection.integer("PRAGMA user_version")
        try Self.requireKnownVersion(version, file.path)
        guard version < target else { return [] }
        Hook.reached("migration.begin")
        // Without these pragmas SQLite would rewrite other programs' views, triggers and references when a table is
        // renamed, and fail if one of them is broken (https://sqlite.org/lang_altertable.html#altertabrename).
        try connection.changeSchema("PRAGMA legacy_alter_table = ON; PRAGMA foreign_keys = OFF")
        var triggersBefore: [String] = []
        try connection.execute("BEGIN IMMEDIATE")
        do throws(BreakerStoreError) {
            let version = try Self.claim(connection, file, mayCreate: mayCreate)
            // The plan has refused an older file already, unless SQLite has just rolled back a journal.
            guard version == 0 || mayMigrate else { throw Self.older(version, file.path) }
            if version > 0 { triggersBefore = try Self.triggers(in: connection) }
            for part in Self.parts(of: steps, after: version) {
                Hook.reached("migration.step")
                // An older file may have rows with longer texts than the library reads.
                try connection.withLongTexts { () throws(BreakerStoreError) in
                    try connection.changeSchema(part)
                }
            }
            if version < target { try connection.execute("PRAGMA user_version = \(target)") }
            Hook.reached("migration.commit")
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
        try connection.changeSchema("PRAGMA legacy_alter_table = OFF")
        Hook.reached("migration.done")
        guard !triggersBefore.isEmpty else { return [] }
        let triggersAfter = try Self.triggers(in: connection)
        return triggersBefore.filter { !triggersAfter.contains($0) }
    }

    /// The SQL texts to run, in this order, in a file of this version.
    private static func parts(of steps: [Migration], after version: Int64) -> [String] {
        if version == 0, let last = steps.last, Int64(last.version) == Self.version { return Migration.whole }
        return steps.filter { Int64($0.version) > version }.flatMap(\.parts)
    }

    /// Checks again, under the write lock, that the file is a store or empty; sets application_id if it is empty, and
    /// returns its version.
    ///
    /// Before this process had the lock, another program may have made the file its own.
    private static func claim(
        _ connection: borrowing Connection,
        _ file: StoreFile,
        mayCreate: Bool
    ) throws(BreakerStoreError) -> Int64 {
        let version = try connection.integer("PRAGMA user_version")
        if try connection.integer("PRAGMA application_id") == Self.applicationID {
            // Also checks that no other program uses a name that later steps need.
            try connection.verifySchema()
            return try connection.schemaVersion()
        }
        guard version == 0, try Self.isEmpty(connection) else {
            throw Self.stranger(file, "it is the database of another program")
        }
        guard mayCreate else { throw Self.missing(file) }
        try connection.execute("PRAGMA application_id = \(Self.applicationID)")
        return 0
    }

    static func isEmpty(_ connection: borrowing Connection) throws(BreakerStoreError) -> Bool {
        try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
    }

    /// The error for a missing store that may not be created.
    static func missing(_ file: StoreFile) -> BreakerStoreError {
        BreakerStoreError(
            code: .notFound,
            message: "there is no store",
            advice: "create it with access .readWrite, or name another path",
            path: file.path
        )
    }

    static func stranger(
        _ file: StoreFile, _ what: String, advice: String = "it was left as it is; name another path"
    ) -> BreakerStoreError {
        BreakerStoreError(
            code: .notAStore, message: "\(what), so not a store of circuits", advice: advice, path: file.path)
    }

    /// The error for a file without the header of a database, which may be what is left of a store.
    static func noDatabase(_ file: StoreFile) -> BreakerStoreError {
        Self.stranger(
            file, "it is not an SQLite database",
            advice: "if it was the store, 'breaker-inspect set-aside' moves it away, and services start a new one; "
                + "else correct the path")
    }
}
