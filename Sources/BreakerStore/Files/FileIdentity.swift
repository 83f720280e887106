/// Which files were at a database's paths at one moment, by device and inode.
struct FileIdentity: Hashable, Sendable {
    let database: FoundFile.Number?
    let log: FoundFile.Number?
    let index: FoundFile.Number?

    init(database: FoundFile.Number?, log: FoundFile.Number?, index: FoundFile.Number?) {
        (self.database, self.log, self.index) = (database, log, index)
    }

    /// Whether the wal-index's path still leads to the same file.
    ///
    /// A process that writes to the log through a removed wal-index overwrites frames of processes that use the new
    /// one.
    func hasIndex(of file: StoreFile) -> Bool { FoundFile(file.index)?.number == self.index }

    /// Whether the database's path still leads to the same file.
    func hasDatabase(of file: StoreFile) -> Bool { self.hasDatabase(at: file.path) }

    /// Whether this path leads to the database now.
    func hasDatabase(at path: String) -> Bool { self.database != nil && FoundFile(path)?.number == self.database }

    /// Whether the database was removed or replaced by the time of `now`, while its log is still there.
    ///
    /// SQLite would take the log for the new database's.
    func hasLeftLog(in now: FileIdentity) -> Bool {
        self.database != nil && self.log != nil && now.database != self.database && now.log == self.log
    }

    /// Whether both have the same database; compares the two values, and examines no file.
    func hasSameDatabase(as other: FileIdentity?) -> Bool { self.database != nil && self.database == other?.database }

    /// Whether at the time of `now` the wal-index is still there, but its log is not.
    func hasLostLog(in now: FileIdentity) -> Bool {
        self.log != nil && now.log != self.log && self.index != nil && now.index == self.index
    }

    /// Finds the files that are at the paths now; a `stat` takes no lock and drops none.
    init(of file: StoreFile) {
        self.database = FoundFile(file.path)?.number
        self.log = FoundFile(file.log)?.number
        self.index = FoundFile(file.index)?.number
    }

    var isComplete: Bool { self.database != nil && self.log != nil && self.index != nil }

    /// Whether each file of `earlier` is still there; files that are new do not matter.
    func hasAll(of earlier: FileIdentity) -> Bool {
        (earlier.database == nil || earlier.database == self.database)
            && (earlier.log == nil || earlier.log == self.log)
            && (earlier.index == nil || earlier.index == self.index)
    }
}
