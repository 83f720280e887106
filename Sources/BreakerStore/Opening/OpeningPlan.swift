/// Decides from facts alone what an opening does next; `OpeningPlanTests` has a row for each decision.
struct OpeningPlan {
    enum Step: Equatable {
        /// Examines one more fact, and decides again.
        case examine(OpeningFacts.Fact)
        /// Acquires the setup lock (byte 0 of the lock file), and examines all files again.
        case acquireSetupLock(mayMakeLockFile: Bool)
        /// Starts over, because the path leads to another lock file by now.
        case startOver
        /// Makes an empty database.
        case create
        /// Moves a log and a wal-index aside that have lost their database.
        case moveStraysAside
        /// Deletes a wal-index whose log another program has removed.
        case deleteIndex
        /// Moves the broken files aside.
        case quarantine
        case refuse(BreakerStoreError)
        /// - Parameter checksWholeFile: whether SQLite checks the whole file before this process writes to it.
        case open(checksWholeFile: Bool)
    }

    /// The most bytes of database and log together that an opening checks: other processes wait for the check.
    static let maxToCheck: Int64 = 8 << 20

    var facts: OpeningFacts
    /// Whether this process may create a store, also in place of a broken one: only then is it checked whether one is
    /// broken.
    var mayCreate = true
    /// Whether this process may migrate a file of an older schema.
    var mayMigrate = true
    /// Whether this process reopens the store, with its worker's byte still locked.
    var isReopening = false
    /// The files that this process had open last.
    ///
    /// If a different database now lies beside their log, the log must be moved aside, or SQLite would apply the log to
    /// that database.
    var lastOpen: FileIdentity?
    /// Whether SQLite has called the file broken.
    var isSuspect = false
    /// The setup lock that this process holds; nil while it holds none.
    var setupLock: HeldSetupLock?

    struct HeldSetupLock {
        /// The number of the lock file whose byte 0 is locked.
        var lock: FoundFile.Number?
        /// Whether this opening has made the lock file.
        var isNew = false
    }

    var step: Step {
        // Another program may have removed the lock file before this process locked it.
        if let setupLock, setupLock.lock != self.facts.lock?.number { return .startOver }
        if let refusal = self.facts.refusal { return .refuse(refusal) }
        if self.setupLock == nil, let step = self.stepToSetupLock { return step }
        if let step = self.stepForLeftLog ?? self.stepForSuspect { return step }
        // While reopening, the header is not trusted: `LockFile.content` opens the lock file again, and so sees this
        // process's own worker's byte as another worker's.
        switch self.facts.finding(trustsHeader: !self.isReopening) {
        case .unknown(let what): return .examine(what)
        case .refused(let error): return .refuse(error)
        case .new:
            return self.mayCreate ? self.requiringAccess(self.stepForNew) : .refuse(Schema.missing(self.facts.file))
        case .store: return self.stepForOlder ?? self.requiringAccess(self.stepForFiles)
        }
    }

    /// Refuses a store of an older schema, even of an older minor version, before anything is written.
    private var stepForOlder: Step? {
        if self.mayMigrate { return nil }
        guard let version = self.facts.storedVersion else { return .examine(.version) }
        return version < Schema.version ? .refuse(Schema.older(version, self.facts.file.path)) : nil
    }

    /// If a store's lock file exists, all further decisions need the setup lock.
    ///
    /// Locking a byte of an existing file writes nothing. Without the lock the files may be another process's half-done
    /// work: a process that creates a file sets its mode and group afterwards, and an unfinished store looks like
    /// another program's file. If there is no lock file, the opening makes one only once it knows that the files are a
    /// store or new.
    private var stepToSetupLock: Step? {
        guard self.facts.hasLock else { return nil }
        guard let lock = self.facts.lockContent else { return .examine(.lock) }
        return lock == .other ? nil : .acquireSetupLock(mayMakeLockFile: false)
    }

    /// Moves a replaced database's log aside: SQLite would read the new database through that log.
    private var stepForLeftLog: Step? {
        guard self.setupLock != nil, self.facts.hasDatabase, let lastOpen,
            lastOpen.hasLeftLog(in: self.facts.identity)
        else { return nil }
        guard let content = self.facts.content else { return .examine(.content) }
        // What lies beside another program's file is left alone.
        guard case .header(let header) = content, header.applicationID == Schema.applicationID else { return nil }
        return .moveStraysAside
    }

    /// Decides whether a file that SQLite has called broken is quarantined.
    private var stepForSuspect: Step? {
        guard self.isSuspect, self.mayCreate, let database = self.facts.database, database.size > 0 else { return nil }
        // Only a lock file that was there before this opening proves that the file was a store.
        guard let setupLock, !setupLock.isNew else { return nil }
        // To SQLite a file of one byte is empty (os_unix.c, unixFileSize), and SQLite deletes the log of an empty file,
        // even if it only reads (pager.c, pagerOpenWalIfPresent).
        if database.size == 1 { return .quarantine }
        // SQLite must roll back the journal before the file can be judged.
        if self.facts.hasJournal { return nil }
        guard let content = self.facts.content else { return .examine(.content) }
        if case .header(let header) = content {
            // A file whose header names another program is left alone.
            guard header.applicationID == Schema.applicationID else { return nil }
            if !header.isWritable { return .quarantine }
        }
        guard let isBroken = self.facts.isBroken else { return .examine(.damage) }
        return isBroken ? .quarantine : nil
    }

    /// The step, once this process may write to the files and holds the setup lock; otherwise the step to that.
    private func requiringAccess(_ step: Step) -> Step {
        switch self.facts.access {
        case nil: .examine(.access)
        case .refused(let error): .refuse(error)
        case .granted: self.setupLock == nil ? .acquireSetupLock(mayMakeLockFile: true) : step
        }
    }

    private var stepForNew: Step {
        guard let database = self.facts.database else { return .create }
        let hasStrays = self.facts.log != nil || self.facts.index != nil
        return database.size == 0 && hasStrays ? .moveStraysAside : self.stepForFiles
    }

    private var stepForFiles: Step {
        // A wal-index without its log names frames that no process will find.
        if self.facts.log == nil, self.facts.index != nil { return .deleteIndex }
        guard self.mayCheckWholeFile else { return .open(checksWholeFile: false) }
        // While a reader is active, a checkpoint leaves out each page that was changed again after the reader had
        // begun: the newest versions of such pages are in the log alone. If another program then removes the log, the
        // database mixes old and new pages, which no statement notices. The first process that then opens the file
        // checks all of it, before any process writes.
        if !self.facts.hasLog { return .open(checksWholeFile: true) }
        // `lockContent` would show this process's own byte as another worker's.
        if self.isReopening { return .open(checksWholeFile: false) }
        // A store in use is not checked: the other processes would wait, and each notices damage that it meets.
        guard let lock = self.facts.lockContent else { return .examine(.lock) }
        return .open(checksWholeFile: !lock.hasWorkers)
    }

    /// Whether checking the whole file is worth its time.
    ///
    /// It must be a store, which a lock file made just now does not prove; and it must be small, since other processes
    /// wait for the setup lock during the check.
    private var mayCheckWholeFile: Bool {
        self.mayCreate && (self.isReopening || self.setupLock?.isNew == false) && self.facts.hasDatabase
            && self.facts.bytes <= Self.maxToCheck
    }
}
