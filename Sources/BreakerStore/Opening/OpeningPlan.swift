/// What an opening does next, decided by facts alone: a table of the tests has each row.
struct OpeningPlan {
    enum Step: Equatable {
        /// Looks at something, and decides again.
        case look(OpeningFacts.Look)
        /// Takes byte 0 of the lock file, and looks at all anew.
        case takeGuard(mayMakeLockFile: Bool)
        /// Begins anew, for other processes have another lock file.
        case beginAnew
        /// Makes an empty database.
        case create
        /// Moves a log and an index aside that have lost their database.
        case moveStraysAside
        /// Deletes an index whose log somebody has removed.
        case deleteIndex
        /// Moves the broken files aside.
        case setAside
        case refuse(BreakerStoreError)
        /// - Parameter looksThrough: whether SQLite looks through the whole file before anybody writes.
        case open(looksThrough: Bool)
    }

    /// How many bytes of database and log an opening looks through at most: other processes wait meanwhile.
    static let mostToLookThrough: Int64 = 8 << 20

    var facts: OpeningFacts
    /// Whether a store may be made where none is.
    var mayCreate = true
    /// Whether this process opens the store anew, whose worker's byte it has kept.
    var isReopening = false
    /// The files that this process had open last; another database may have taken their place beside their log.
    var left: FileIdentity?
    /// Whether SQLite has called the file broken.
    var isSuspect = false
    /// The lock file whose byte 0 this process has; nil without the guard.
    var guarding: Guarded?

    struct Guarded {
        var lock: FoundFile.Number?
        /// Whether this opening has made the lock file.
        var isNew = false
    }

    var step: Step {
        // Somebody may have removed the lock file before it was locked.
        if let guarding, guarding.lock != self.facts.lock?.number { return .beginAnew }
        if let refusal = self.facts.refusal { return .refuse(refusal) }
        if self.guarding == nil, let step = self.stepToTheGuard { return step }
        if let step = self.stepForLeftLog ?? self.stepForSuspicion { return step }
        // A process that reopens its store has its worker's byte locked, and would take that for another worker's.
        switch self.facts.finding(trustsHeader: !self.isReopening) {
        case .unknown(let what): return .look(what)
        case .refused(let error): return .refuse(error)
        case .new:
            return self.mayCreate ? self.withAccess(self.stepForNew) : .refuse(Schema.missing(self.facts.file))
        case .store: return self.withAccess(self.stepForFiles)
        }
    }

    /// Where a store's lock file is, all else is decided under the guard.
    ///
    /// To take the guard there writes nothing, and without it the files may be another process's half-done work: who
    /// makes a file sets its mode and group right after, and a store looks like a stranger's file until it is complete.
    /// Elsewhere a lock file is made only once the files are known to be a store or new.
    private var stepToTheGuard: Step? {
        guard self.facts.hasLock else { return nil }
        guard let lock = self.facts.lockContent else { return .look(.lock) }
        return lock == .other ? nil : .takeGuard(mayMakeLockFile: false)
    }

    /// SQLite would read a new database through the log that a replaced one has left.
    private var stepForLeftLog: Step? {
        guard self.guarding != nil, let left, left.hasLeftLog(in: self.facts.identity), self.facts.hasDatabase
        else {
            return nil
        }
        guard let content = self.facts.content else { return .look(.content) }
        guard case .header(let header) = content, header.applicationID == Schema.applicationID else { return nil }
        return .moveStraysAside
    }

    /// Whether a file that SQLite has called broken is set aside.
    private var stepForSuspicion: Step? {
        guard self.isSuspect, self.mayCreate, let database = self.facts.database, database.size > 0 else { return nil }
        // A lock file that was there before says that this was a store.
        guard let guarding, !guarding.isNew else { return nil }
        // SQLite takes a file of one byte for an empty one (os_unix.c, unixFileSize), and deletes the log of an empty
        // one, even where it only reads (pager.c, pagerOpenWalIfPresent).
        if database.size == 1 { return .setAside }
        // SQLite must roll back such a journal before the file can be judged.
        if self.facts.hasJournal { return nil }
        guard let content = self.facts.content else { return .look(.content) }
        if case .header(let header) = content {
            // A file that belongs to another program by its header is left alone.
            guard header.applicationID == Schema.applicationID else { return nil }
            if !header.isWritable { return .setAside }
        }
        guard let isBroken = self.facts.isBroken else { return .look(.damage) }
        return isBroken ? .setAside : nil
    }

    private func withAccess(_ step: Step) -> Step {
        switch self.facts.access {
        case nil: .look(.access)
        case .refused(let error): .refuse(error)
        case .granted: self.guarding == nil ? .takeGuard(mayMakeLockFile: true) : step
        }
    }

    private var stepForNew: Step {
        guard let database = self.facts.database else { return .create }
        let hasStrays = self.facts.log != nil || self.facts.index != nil
        return database.size == 0 && hasStrays ? .moveStraysAside : self.stepForFiles
    }

    private var stepForFiles: Step {
        // An index without its log tells of frames that no process will find.
        if self.facts.log == nil, self.facts.index != nil { return .deleteIndex }
        guard self.mayLookThrough else { return .open(looksThrough: false) }
        // Somebody may have removed the log of a store in use. A checkpoint beside a reader leaves out each page that
        // was changed again after the reader had begun. So the database may be torn without its log, in a way that no
        // statement notices. The first process that opens it after that looks through it, before anybody writes.
        if !self.facts.hasLog { return .open(looksThrough: true) }
        if self.isReopening { return .open(looksThrough: false) }
        // A store that other processes use is not looked through: they would wait, and each of them notices damage that
        // it meets.
        guard let lock = self.facts.lockContent else { return .look(.lock) }
        return .open(looksThrough: !lock.hasWorkers)
    }

    /// Whether a look through the file is worth its time: for a store, which a lock file made just now is no sign of,
    /// and for a small file, since other processes wait for the guard meanwhile.
    private var mayLookThrough: Bool {
        self.mayCreate && (self.isReopening || self.guarding?.isNew == false) && self.facts.hasDatabase
            && self.facts.bytes <= Self.mostToLookThrough
    }
}
