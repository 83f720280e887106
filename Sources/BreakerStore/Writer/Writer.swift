import Synchronization

/// Owns the connection that writes a store's file, and the lock file with this process's byte.
///
/// Sendable: only the leader touches its fields, and the lead changes hands under the lock of `StoreLife`.
/// The store's thread alone changes the session, after the core's `init` has opened the first session and before the
/// thread runs. So the store's thread may read the session without the lead.
final class Writer: @unchecked Sendable {
    private struct Session {
        let opened: Opened
        /// A connection only for checkpoints, made for the first checkpoint.
        var checkpointer: Database?
        /// Whether `journal_size_limit` is set, so that SQLite truncates the log when this process next restarts it.
        var limitsLog = false
    }

    /// What commits have found; not part of the session, which the store's thread may read while another thread leads.
    private struct Seen {
        /// The directory just before all paths were last seen to lead to the open files; nil if it was still changing.
        var directory: DirectoryStamp?
        /// The clock's row after the last commit, and the database's version then.
        var lastClock: (row: ClockRow, version: UInt32)?
    }

    let file: StoreFile
    private let configuration: CircuitStore.Configuration
    private let clock: StoreClock
    private let random: RandomSource
    private var session: Session?
    private var seen = Seen()
    /// This process's byte, which proves that the process is alive.
    ///
    /// The process keeps the byte while it opens the file again: otherwise its probes would count as a dead worker's.
    private var membership: Opening.Membership?
    /// The files that `closeConnections` closed; nil while files are open.
    ///
    /// If another database has taken their place, their log may still lie beside it.
    private var lastOpen: FileIdentity?
    /// Whether a sync of the log has failed: the store is healthy again only once the database has been synced.
    private(set) var needsFullCheckpoint = false
    /// Whether another process keeps the worker when this one leaves.
    let keepsWorker = Atomic<Bool>(false)

    init(_ file: StoreFile, _ configuration: CircuitStore.Configuration, _ clock: StoreClock, _ random: RandomSource) {
        self.file = file
        self.configuration = configuration
        self.clock = clock
        self.random = random
    }

    var opened: Opened? { self.session?.opened }

    // MARK: - Opening and closing

    /// Opens the file at the path, which may be another file each time.
    ///
    /// - Parameter isSuspect: whether SQLite has reported that the file is broken, or the file has no row ids left.
    func open(isSuspect: Bool = false, onQuarantine: @escaping (String) -> Void) throws(BreakerStoreError) -> Opened {
        let opened = try Opening(
            file: self.file,
            configuration: self.configuration,
            clock: self.clock,
            previous: self.membership, lastOpen: self.lastOpen, isSuspect: isSuspect,
            onQuarantine: onQuarantine
        ).run()
        self.lastOpen = nil
        self.membership = Opening.Membership(lock: opened.lock, worker: opened.worker.id)
        self.session = Session(opened: opened)
        return opened
    }

    /// Closes the connections, and keeps the worker's byte.
    func closeConnections() {
        if let opened = self.opened { self.lastOpen = opened.identity }
        self.closeSession()
    }

    /// Closes the connections, to which nothing else may keep a reference.
    private func closeSession() {
        self.session = nil
        self.seen = Seen()
        Hook.reached("session.closed")
    }

    /// Removes the worker from the file, saves the counts, and closes the file; returns whether the counts were saved.
    ///
    /// With `keepsWorker` the row stays, and the byte as long as another process has a descriptor of the lock file.
    func leave(saving unsaved: StoreCounts.Unsaved?) -> Bool {
        let keepsWorker = self.keepsWorker.load(ordering: .relaxed)
        var isSaved = false
        if let opened = self.opened {
            do throws(BreakerStoreError) {
                try opened.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                    try opened.writer.requireKnownVersion()
                    try opened.writer.saveCounters(unsaved?.counters ?? [])
                    if !keepsWorker {
                        try opened.writer.removeWorker(opened.worker.id, at: self.clock.now)
                        try opened.writer.releaseSlots(of: opened.worker.id)
                    }
                    try self.requireIndex(opened)
                }
                isSaved = true
            } catch {
                // Other processes see that this worker's byte is unlocked, and remove the worker.
            }
            Hook.reached("close.unregistered")
            if !keepsWorker { opened.lock.unlock(worker: opened.worker.id) }
        }
        self.closeSession()
        self.membership = nil
        return isSaved
    }

    /// Registers circuits in a file that has just been opened, so that an operator sees them there.
    ///
    /// - Parameters:
    ///   - isSameDatabase: whether the same database was open before.
    ///   - lost: what this process knows of the lost file that this file may replace; nil if nothing was lost.
    /// - Returns: what was done with that; nil if nothing was lost.
    @discardableResult
    func register(
        _ circuits: [CircuitName: CircuitBreaker.Config], isSameDatabase: Bool, restoring lost: LostFile?
    ) throws(BreakerStoreError) -> Restoration.OfFile? {
        guard let opened = self.opened else { return nil }
        Hook.reached("circuits.registering")
        var decision: Restoration.OfFile?
        func register() throws(BreakerStoreError) {
            let mustSync = try opened.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                let transaction = try self.transaction(opened)
                try transaction.register(circuits.values, isSameDatabase: isSameDatabase)
                decision = try lost.map { (lost) throws(BreakerStoreError) in try transaction.restore(lost) }
                try transaction.flush()
                try self.requireIndex(opened)
                return lost != nil && self.needsSync(transaction)
            }
            Hook.reached("circuits.registered")
            // The lost file is forgotten only once its holds are in the file at the path.
            if lost != nil { try self.requireFiles(opened) }
            if mustSync, let error = self.sync(opened) { throw error }
        }
        do throws(BreakerStoreError) {
            try register()
        } catch {
            guard error.isRowDamage else { throw error }
            try self.repair(opened, circuits)
            try register()
        }
        return decision
    }

    // MARK: - Syncing

    /// Syncs the log, so that the checkpoint has little left to sync while callers wait for the checkpoint.
    func syncLog() {
        // The checkpoint meets the same error again, and reports it.
        try? self.session?.checkpointer?.connection.syncLog()
    }

    /// How many frames of the log no checkpoint has copied yet.
    var pendingFrames: Int { self.opened?.writer.connection.walIndex()?.pendingFrames ?? 0 }

    /// Copies as much of the log as it can into the database.
    func checkpoint() throws(BreakerStoreError) {
        guard let opened = self.opened else { return }
        try self.updateLogLimit(opened)
        // Under the setup lock no process opens other files: pages of a log that is gone must not get into the
        // database. While another process opens the store, it may hold this lock for long, and all tickets would wait
        // with this checkpoint. So if the lock is taken, a later checkpoint must do.
        var checkpointer = self.session?.checkpointer
        try opened.lock.withSetupLock(until: Deadline(after: .zero)) { () throws(BreakerStoreError) in
            guard self.hasFilesAndLock(opened) else { throw .moved(self.file.path) }
            if checkpointer == nil {
                checkpointer = try Database.sharing(
                    self.file, as: opened.identity, syncs: self.configuration.syncs)
                try checkpointer?.connection.syncLog()
            }
            guard let other = checkpointer else { return }
            try opened.writer.checkpoint(through: other, until: self.deadline)
        }
        self.session?.checkpointer = checkpointer
        // The first commit after a complete copy restarts the log, and truncates it. This is that commit: a caller's
        // commit would wait for the file system. It does not wait for a lock.
        if self.session?.limitsLog == true, self.pendingFrames == 0 {
            self.probeWrite(unless: { true })
        }
    }

    /// A log of more bytes, grown under a long read or a long setup, is truncated once it has been copied.
    private static let maxLogBytes: Int64 = 8 << 20

    /// Sets a limit for a long log, so that SQLite truncates it to its reserve when this process next restarts it.
    ///
    /// A short log has no limit: whenever a log with a limit restarts, SQLite asks the system for its size.
    private func updateLogLimit(_ opened: Opened) throws(BreakerStoreError) {
        let isLong = StoreFile.size(self.file.log) ?? 0 > Self.maxLogBytes
        guard isLong != self.session?.limitsLog else { return }
        try opened.writer.connection.limitLog(to: isLong ? Reserve.pages : nil)
        self.session?.limitsLog = isLong
    }

    /// If a sync of the log has failed, copies the whole log into the database, which SQLite syncs.
    ///
    /// - Returns: false if a reader or a writer keeps frames from being copied.
    func makeUpForFailedSync() throws(BreakerStoreError) -> Bool {
        guard self.needsFullCheckpoint else { return true }
        try self.checkpoint()
        guard let index = self.opened?.writer.connection.walIndex(), index.pendingFrames == 0 else { return false }
        self.needsFullCheckpoint = false
        return true
    }

    /// Whether a commit must survive a power loss.
    ///
    /// By default a change of state must; a report must survive only a crash of the process.
    func needsSync(_ transaction: Transaction) -> Bool {
        switch self.configuration.durability {
        case .transitions: transaction.hasDurableChanges
        case .everyCommit: true
        case .processCrash: false
        }
    }

    /// Syncs the log after a commit; returns the error if that fails.
    func sync(_ opened: Opened) -> BreakerStoreError? {
        Hook.reached("sync.begin")
        do throws(BreakerStoreError) {
            try opened.writer.connection.syncLog()
            return nil
        } catch {
            // The change stands, because other processes have seen it. A later sync of the log proves nothing about
            // these pages: they are on the disk only once a checkpoint has synced them in the database.
            self.needsFullCheckpoint = true
            return error
        }
    }

    // MARK: - The files

    /// Whether all paths still lead to the open files.
    var isInPlace: Bool { self.opened.map(self.hasFilesAndLock) ?? true }

    func hasFilesAndLock(_ opened: Opened) -> Bool {
        FileIdentity(of: self.file) == opened.identity && opened.lock.isInPlace
    }

    /// Throws if the index is not in its place.
    ///
    /// If this process writes to the log by an index that other processes no longer use, it destroys the frames that
    /// they have written. The caller checks as late as possible: it may wait long for the write lock, which excludes
    /// only processes with the same index.
    func requireIndex(_ opened: Opened) throws(BreakerStoreError) {
        guard opened.identity.hasIndex(of: self.file) else { throw .moved(self.file.path) }
    }

    /// Throws unless the paths lead to the open files: otherwise no later process would see this commit.
    ///
    /// If nothing has changed in the directory since the last check, they still do.
    func requireFiles(_ opened: Opened) throws(BreakerStoreError) {
        let directory = DirectoryStamp(self.file.directory)
        if let directory, directory == self.seen.directory { return }
        // Read before the files are compared: once the directory is settled, any later rename gives it another stamp.
        let isSettled = directory?.isSettled ?? false
        guard FileIdentity(of: self.file) == opened.identity else { throw .moved(self.file.path) }
        self.seen.directory = isSettled ? directory : nil
    }

    // MARK: - Transactions

    /// Caches the clock's row that has just been committed, until another connection commits.
    func cacheClock(_ row: ClockRow, committedBy opened: Opened) {
        self.seen.lastClock = opened.writer.dataVersion.map { (row, $0) }
    }

    func transaction(_ opened: Opened) throws(BreakerStoreError) -> Transaction {
        try Transaction(
            opened.writer,
            of: self.file,
            worker: opened.worker,
            clock: self.clock,
            known: self.seen.lastClock.flatMap { $0.version == opened.writer.dataVersion ? $0.row : nil },
            eventsKept: self.configuration.eventsKept,
            random: self.random,
            // If the lock file was replaced, other processes lock the new one: a worker that seems dead may be alive.
            isLocked: { !opened.lock.isInPlace || opened.lock.isHeldByAnother(worker: $0) }
        )
    }

    var deadline: Deadline { Deadline(after: self.configuration.busyTimeout) }
}
