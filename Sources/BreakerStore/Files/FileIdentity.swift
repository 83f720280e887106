/// Which files the database's paths lead to just now.
struct FileIdentity: Hashable, Sendable {
    let database: FoundFile.Number?
    let log: FoundFile.Number?
    let index: FoundFile.Number?

    init(database: FoundFile.Number?, log: FoundFile.Number?, index: FoundFile.Number?) {
        (self.database, self.log, self.index) = (database, log, index)
    }

    /// Whether the wal-index's path still leads to the file that is open.
    ///
    /// A process that writes to the log with a removed index overwrites the frames of the processes that use the new
    /// one.
    func hasIndex(of file: StoreFile) -> Bool { FoundFile(file.index)?.number == self.index }

    /// Whether the database's path leads to the same file still.
    func hasDatabase(of file: StoreFile) -> Bool { self.hasDatabase(at: file.path) }

    /// Whether this path leads to the database now.
    func hasDatabase(at path: String) -> Bool { self.database != nil && FoundFile(path)?.number == self.database }

    /// Whether the database was removed or replaced, while its log is there still at `now`.
    ///
    /// SQLite would take the log for that of the new database.
    func hasLeftLog(in now: FileIdentity) -> Bool {
        self.database != nil && self.log != nil && now.database != self.database && now.log == self.log
    }

    func hasDatabase(of other: FileIdentity?) -> Bool { self.database != nil && self.database == other?.database }

    /// Whether the index is there still at `now`, but its log is not.
    func hasLostLog(in now: FileIdentity) -> Bool {
        self.log != nil && now.log != self.log && self.index != nil && now.index == self.index
    }

    /// The files that are at the paths now.
    ///
    /// `stat` takes no lock and drops none.
    init(of file: StoreFile) {
        self.database = FoundFile(file.path)?.number
        self.log = FoundFile(file.log)?.number
        self.index = FoundFile(file.index)?.number
    }

    var isComplete: Bool { self.database != nil && self.log != nil && self.index != nil }

    /// Whether each file that was there at `earlier` is there still; files that have come since do not matter.
    func hasAll(of earlier: FileIdentity) -> Bool {
        (earlier.database == nil || earlier.database == self.database)
            && (earlier.log == nil || earlier.log == self.log)
            && (earlier.index == nil || earlier.index == self.index)
    }
}
