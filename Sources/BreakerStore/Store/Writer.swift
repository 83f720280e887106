/// What writes a store's file: a connection, the lock file with this process's byte, and what must still be synced.
///
/// Sendable: only the one who leads touches its fields, and the lead changes hands under the life's lock
/// (`StoreLife.Lead`). The store's thread, which alone opens, closes and adds the checkpointer, may read those two
/// without the lead.
final class Writer: @unchecked Sendable {
    private struct Session {
        let opened: Opened
        /// A connection of its own for checkpoints, made for the first of them.
        var checkpointer: Database?
    }

    let file: StoreFile
    private let configuration: CircuitStore.Configuration
    private let clock: StoreClock
    private let random: RandomSource
    private var session: Session?
    /// The byte that says that this process lives: held over a reopening, or its probes would be taken for a dead
    /// one's.
    private var membership: Opening.Membership?
    /// What was open last, until the next is open: another database may take its place, and the log be left.
    private var lastOpen: FileIdentity?
    /// A sync of the log has failed: healthy again only once the database has been synced.
    private(set) var needsFullCheckpoint = false

    init(_ file: StoreFile, _ configuration: CircuitStore.Configuration, _ clock: StoreClock, _ random: RandomSource) {
        self.file = file
        self.configuration = configuration
        self.clock = clock
        self.random = random
    }

    var opened: Opened? { self.session?.opened }

    // MARK: - Opening and closing

    /// Opens the file, which may be another one each time.
    ///
    /// - Parameter isSuspect: whether SQLite has called the file broken.
    func open(isSuspect: Bool = false) throws(BreakerStoreError) -> Opened {
        let opened = try Opening(
            file: self.file,
            configuration: self.configuration,
            clock: self.clock,
            previous: self.membership,
            left: self.lastOpen,
            isSuspect: isSuspect
        ).run()
        self.lastOpen = nil
        self.membership = Opening.Membership(lock: opened.lock, worker: opened.worker.id)
        self.session = Session(opened: opened)
        return opened
    }

    /// Closes the connections, and keeps the worker's byte.
    func shut() {
        if let opened = self.opened { self.lastOpen = opened.identity }
        self.session = nil
    }

    /// Takes the worker out of the file, and leaves that.
    func leave(telling refusals: [CircuitName: Int64]) {
        if let opened = self.opened {
            _ = try? opened.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                try opened.writer.removeWorker(opened.worker.id, at: self.clock.now)
                try opened.writer.add(refusals: refusals)
                try self.requireIndex(opened)
            }
            Hook.reached("close.unregistered")
            opened.lock.unlock(worker: opened.worker.id)
        }
        self.session = nil
        self.membership = nil
    }

    /// Registers circuits in the file that was opened just now, so that an operator sees them there.
    ///
    /// - Parameter isSameDatabase: whether it is the one that was open before. Others may have registered newer configs
    ///   there meanwhile, or forgotten circuits: this process then notes that it uses those that are left.
    func register(
        _ circuits: [CircuitName: CircuitBreaker.Config],
        isSameDatabase: Bool
    ) throws(BreakerStoreError) {
        guard let opened = self.opened else { return }
        func register() throws(BreakerStoreError) {
            try opened.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                let transaction = try self.transaction(opened)
                for config in circuits.values {
                    if isSameDatabase {
                        try transaction.noteUse(of: config.name)
                    } else {
                        try transaction.register(config)
                    }
                }
                try transaction.flush()
                try self.requireIndex(opened)
            }
        }
        do throws(BreakerStoreError) {
            try register()
        } catch {
            guard error.isOfUnusableRow else { throw error }
            try self.heal(opened, circuits)
            try register()
        }
    }

    /// Makes rows readable and writable that no version of this library can have written, and tells the history.
    func heal(
        _ opened: Opened,
        _ circuits: [CircuitName: CircuitBreaker.Config]
    ) throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try opened.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                let transaction = try self.transaction(opened)
                var healing = Healing(opened.writer, at: transaction.now, configs: circuits)
                try healing.run()
                for note in healing.notes { try transaction.write(note.transition, of: note.circuit, by: nil) }
                try transaction.flush()
                try self.requireIndex(opened)
            }
        } catch {
            throw error.isOfUnusableRow ? .unwritable(error) : error
        }
        try self.requireFiles(opened)
    }

    // MARK: - Syncing

    /// Syncs the log, so that the checkpoint that follows has little left to sync: else callers would wait for that.
    func syncLog() {
        // What fails here fails again in the checkpoint, which tells of it.
        try? self.session?.checkpointer?.connection.syncLog()
    }

    /// The frames of the log that no checkpoint has copied yet.
    var pendingFrames: Int { self.opened?.writer.connection.walIndex()?.pendingFrames ?? 0 }

    /// Copies what it can of the log into the database.
    func checkpoint() throws(BreakerStoreError) {
        guard let opened = self.opened else { return }
        // Under the guard nobody begins with other files: pages of a log that is gone must not get into the database.
        // Whoever has the guard may open the store for long, and all that waits in the queue would wait as well: so
        // later, if not now.
        var checkpointer = self.session?.checkpointer
        try opened.lock.withGuard(until: Deadline(after: .zero)) { () throws(BreakerStoreError) in
            guard self.hasFilesAndLock(opened) else { throw .moved(self.file.path) }
            if checkpointer == nil {
                checkpointer = try Database.sharing(self.file, as: opened.identity)
                try checkpointer?.connection.syncLog()
            }
            guard let other = checkpointer else { return }
            try opened.writer.checkpoint(through: other, until: self.deadline)
        }
        self.session?.checkpointer = checkpointer
    }

    /// Copies the whole log into the database, which is synced, if a sync of the log has failed; false if a reader is
    /// in the way.
    func makeUpForFailedSync() throws(BreakerStoreError) -> Bool {
        guard self.needsFullCheckpoint else { return true }
        try self.checkpoint()
        guard let index = self.opened?.writer.connection.walIndex(), index.pendingFrames == 0 else { return false }
        self.needsFullCheckpoint = false
        return true
    }

    /// Syncs the log after a commit, if what was committed must survive a power loss: a change of state must, a report
    /// need only survive a crash of the process.
    func sync(after transaction: Transaction, _ opened: Opened) -> BreakerStoreError? {
        let isNeeded =
            switch self.configuration.durability {
            case .transitions: transaction.hasTransitions
            case .everyCommit: true
            case .processCrash: false
            }
        guard isNeeded else { return nil }
        do throws(BreakerStoreError) {
            try opened.writer.connection.syncLog()
            return nil
        } catch {
            // The change stands, others have seen it. A later sync of the log proves nothing about these pages: they
            // are on the disk once they are in the database.
            self.needsFullCheckpoint = true
            return error
        }
    }

    // MARK: - The files

    /// Whether all paths still lead to what is open.
    var isInPlace: Bool { self.opened.map(self.hasFilesAndLock) ?? true }

    func hasFilesAndLock(_ opened: Opened) -> Bool {
        FileIdentity(of: self.file) == opened.identity && opened.lock.isInPlace
    }

    /// A process that writes to the log under an index that others no longer have destroys what they have written
    /// there.
    ///
    /// Asked again as late as can be: the lock may be long in coming, and keeps only those away who have the same
    /// index.
    func requireIndex(_ opened: Opened) throws(BreakerStoreError) {
        guard opened.identity.hasIndex(of: self.file) else { throw .moved(self.file.path) }
    }

    /// The paths must lead to the files that are open, or no process that comes later sees what is written.
    func requireFiles(_ opened: Opened) throws(BreakerStoreError) {
        guard FileIdentity(of: self.file) == opened.identity else { throw .moved(self.file.path) }
    }

    /// Whether the connection that is open commits again; false if others still lock the file, nil if it must be opened
    /// anew.
    func canWrite(unless isOver: () -> Bool) -> Bool? {
        guard let opened = self.opened else { return nil }
        // Others use the file by turns: a process that asks just once in a while may ask in vain for long.
        let deadline = self.deadline
        do throws(BreakerStoreError) {
            guard try opened.writer.begin(unless: { deadline.isOver || isOver() }) else { return false }
            defer { opened.writer.rollback() }
            // A value that stays the same would write nothing, and prove nothing.
            try opened.writer.run("UPDATE worker SET since = since - 1 WHERE id = ?1", .integer(opened.worker.id))
            try self.requireIndex(opened)
            try opened.writer.run("COMMIT")
            return true
        } catch {
            switch error.code {
            case .full, .busy, .permissionDenied: return false
            default: return nil
            }
        }
    }

    // MARK: - Transactions

    func transaction(_ opened: Opened) throws(BreakerStoreError) -> Transaction {
        try Transaction(
            opened.writer,
            worker: opened.worker,
            clock: self.clock,
            eventsKept: self.configuration.eventsKept,
            random: self.random,
            // Others lock another file by now: a worker that seems dead may live.
            isLocked: { !opened.lock.isInPlace || opened.lock.isHeldByAnother(worker: $0) }
        )
    }

    var deadline: Deadline { Deadline(after: self.configuration.busyTimeout) }
}
