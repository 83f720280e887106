import BreakerStoreMigrations

/// The schema of a store's file: recognising it, creating it, bringing it up to date.
enum Schema {
    /// "BrkS": the number by which SQLite, and the program `file`, recognise a store.
    static let applicationID: Int64 = 0x4272_6B53
    static let version = Int64(Migration.all.last?.version ?? 0)

    static let stepsOfAMajor: Int64 = 1000
    /// Files of an older major version are moved to this one before their rows are read.
    static let oldestRead = Self.version / Self.stepsOfAMajor * Self.stepsOfAMajor

    /// What a path leads to.
    enum Recognised: Equatable {
        /// Nothing, an empty file, or a store whose creation was cut short.
        case new
        case store
    }

    /// Looks at the file without changing a byte; throws if it is somebody else's or of a later major version.
    ///
    /// - Parameter asksIndex: whether the caller asks for the version once more through the log's index, before it
    ///   writes to the database or its log. Then nobody need read the log frame by frame beside a worker: the log of a
    ///   busy store has a thousand. The index itself may be made anew for that, which every reader may do.
    static func recognise(_ file: StoreFile, asksIndex: Bool = false) throws(BreakerStoreError) -> Recognised {
        guard let size = StoreFile.size(file.path), size > 0 else { return .new }
        // The header's bytes alone: a creation that was cut short may have left no more of the file than its first
        // page, which SQLite calls corrupt until it has rolled back.
        guard let header = try DatabaseHeader(of: file) else {
            // A power cut in a creation may leave a file that has its size and none of its bytes; SQLite empties it.
            if try DatabaseHeader.isZero(of: file), JournalFile.startsFromNothing(file.journal) { return .new }
            if try Self.isOursByLog(file) { return .store }
            throw Self.stranger(file, "it is not an SQLite database")
        }
        if header.applicationID == Self.applicationID {
            let isAskedLater = asksIndex && Self.hasContent(file.index) && LockFile.hasWorkers(at: file.lock)
            let version = isAskedLater ? header.userVersion : try Self.version(of: file, header)
            try Self.requireKnownVersion(version, file.path)
            return .store
        }
        if header.applicationID == 0, header.userVersion == 0, !Self.hasContent(file.log),
            !Self.hasContent(file.journal)
        {
            let connection = try Connection(path: file.path, access: .immutable)
            if (try? Self.isEmpty(connection)) == true { return .new }
        }
        if try Self.isOursByLog(file) { return .store }
        throw Self.stranger(file, "it is the database of another program")
    }

    /// Whether the log makes a whole store of the file: a checkpoint that was cut short may have torn the first page in
    /// the database.
    ///
    /// The first page alone says nothing: somebody else's file may have taken the place of a store whose log was left.
    private static func isOursByLog(_ file: StoreFile) throws(BreakerStoreError) -> Bool {
        // SQLite takes a file of one byte for an empty one, whose log it deletes (Quarantine.isDue).
        guard LockFile.exists(at: file.lock), Self.hasContent(file.log), StoreFile.size(file.path) ?? 0 > 1 else {
            return false
        }
        let version = try? BystanderReader.read(file, acceptsOlder: true) {
            (database) throws(BreakerStoreError) -> Int64? in
            guard try database.connection.integer("PRAGMA application_id") == Self.applicationID,
                try database.isWhole()
            else { return nil }
            return try database.connection.integer("PRAGMA user_version")
        }
        guard let version else { return false }
        try Self.requireKnownVersion(version, file.path)
        return true
    }

    private static func version(of file: StoreFile, _ header: DatabaseHeader) throws(BreakerStoreError) -> Int64 {
        // What a journal is to roll back can't be read as it is.
        if Self.hasContent(file.journal) { return header.userVersion }
        // A connection that only reads would have to go through the whole log, where nobody else has it open: it is
        // asked which page counts where one of them is of a later version.
        let versions = try LogFile.versions(at: file.log) + [header.userVersion]
        guard !versions.allSatisfy(Self.isKnown) else { return header.userVersion }
        return try BystanderReader.read(file) { (database) throws(BreakerStoreError) in
            try database.connection.integer("PRAGMA user_version")
        }
    }

    private static func isKnown(_ version: Int64) -> Bool {
        version / Self.stepsOfAMajor <= Self.version / Self.stepsOfAMajor
    }

    /// Minor versions only add: a file of a later one is usable, so that going back to an older program stops no
    /// service.
    static func requireKnownVersion(_ version: Int64, _ path: String) throws(BreakerStoreError) {
        guard Self.isKnown(version) else {
            throw BreakerStoreError(
                code: .newerSchema,
                message:
                    "the file has schema \(version / Self.stepsOfAMajor).\(version % Self.stepsOfAMajor), this program "
                    + "knows up to \(Self.version / Self.stepsOfAMajor).x",
                advice: "update the program or name another path",
                path: path
            )
        }
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

    private static func isEmpty(_ connection: borrowing Connection) throws(BreakerStoreError) -> Bool {
        try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
    }

    private static func hasContent(_ path: String) -> Bool { (StoreFile.size(path) ?? 0) > 0 }

    /// There is no store, and none may be created.
    static func missing(_ file: StoreFile) -> BreakerStoreError {
        BreakerStoreError(
            code: .notFound,
            message: "there is no store",
            advice: "create it with access .readWrite, or name another path",
            path: file.path
        )
    }

    private static func stranger(_ file: StoreFile, _ what: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .notAStore,
            message: "\(what), not a store of circuits",
            advice: "it was left as it is; name another path",
            path: file.path
        )
    }
}
