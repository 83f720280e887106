import BreakerStoreMigrations

/// The schema of a store's file: recognising it, creating it, bringing it up to date.
enum Schema {
    /// "BrkS": the number by which SQLite, and the program `file`, recognise a store.
    static let applicationID: Int64 = 0x4272_6B53
    static let version = Int64(Migration.all.last?.version ?? 0)

    static let stepsOfAMajor: Int64 = 1000
    /// Files of an older major version are moved to this one before their rows are read.
    static let oldestRead = Self.version / Self.stepsOfAMajor * Self.stepsOfAMajor

    static func isKnown(_ version: Int64) -> Bool {
        version / Self.stepsOfAMajor <= Self.version / Self.stepsOfAMajor
    }

    /// Minor versions only add: a file of a later one is usable, so that going back to an older program stops no
    /// service.
    static func requireKnownVersion(_ version: Int64, _ path: String) throws(BreakerStoreError) {
        guard Self.isKnown(version) else { throw Self.newer(version, path) }
    }

    static func newer(_ version: Int64, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .newerSchema,
            message:
                "the file has schema \(version / Self.stepsOfAMajor).\(version % Self.stepsOfAMajor), this program "
                + "knows up to \(Self.version / Self.stepsOfAMajor).x",
            advice: "update the program or name another path",
            path: path
        )
    }

    /// Creates the tables, or moves what an older file has into them: in one transaction, so that a kill leaves nothing
    /// half done.
    ///
    /// - Parameter mayCreate: whether an empty file may become a store.
    /// - Returns: the triggers of others, which never ran and are lost with the tables that they were on.
    static func migrate(
        _ connection: borrowing Connection,
        _ file: StoreFile,
        mayCreate: Bool = true,
        steps: [Migration] = Migration.all
    ) throws(BreakerStoreError) -> [String] {
        let target = Int64(steps.last?.version ?? 0)
        let version = try connection.integer("PRAGMA user_version")
        try Self.requireKnownVersion(version, file.path)
        guard version < target else { return [] }
        Hook.reached("migration.begin")
        // Without these SQLite would rewrite views, triggers and references of others when a table gets another name,
        // and fail where one of them is broken (https://sqlite.org/lang_altertable.html#altertabrename).
        try connection.changeSchema("PRAGMA legacy_alter_table = ON; PRAGMA foreign_keys = OFF")
        var lost: [String] = []
        try connection.execute("BEGIN IMMEDIATE")
        do throws(BreakerStoreError) {
            let version = try Self.claim(connection, file, mayCreate: mayCreate)
            if version > 0 { lost = try Self.triggers(in: connection) }
            for part in Self.parts(of: steps, after: version) {
                Hook.reached("migration.step")
                // An older file may have rows with longer texts than anybody reads.
                try connection.withLongTexts { () throws(BreakerStoreError) in
                    try connection.changeSchema(String(decoding: part, as: UTF8.self))
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
        return lost
    }

    /// What is to be run in a file of this version, one after the other.
    private static func parts(of steps: [Migration], after version: Int64) -> [[UInt8]] {
        if version == 0, let last = steps.last, Int64(last.version) == Self.version { return [Migration.schema] }
        return steps.filter { Int64($0.version) > version }.flatMap(\.parts)
    }

    /// The version of the file that is now locked, which becomes ours if it is empty: until it was locked, another
    /// program may have made it its own.
    private static func claim(
        _ connection: borrowing Connection,
        _ file: StoreFile,
        mayCreate: Bool
    ) throws(BreakerStoreError) -> Int64 {
        let version = try connection.integer("PRAGMA user_version")
        if try connection.integer("PRAGMA application_id") == Self.applicationID {
            // Also whether there is room for what later steps add.
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

    /// There is no store, and none may be created.
    static func missing(_ file: StoreFile) -> BreakerStoreError {
        BreakerStoreError(
            code: .notFound,
            message: "there is no store",
            advice: "create it with access .readWrite, or name another path",
            path: file.path
        )
    }

    static func stranger(_ file: StoreFile, _ what: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .notAStore,
            message: "\(what), not a store of circuits",
            advice: "it was left as it is; name another path",
            path: file.path
        )
    }
}
