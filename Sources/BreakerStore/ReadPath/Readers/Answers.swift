import Synchronization

/// How a database that was just opened relates to the one that was open before.
enum Reopened {
    case same
    /// Another one, which was created after the former one was lost.
    case createdSince
    /// Another one, which existed before the former one was lost; or the first one that this process opens.
    case other
}

/// Answers calls from the file: has the connection that reads, and the header with which cached decisions are compared.
final class Answers: Sendable {
    /// The files and connections that are open now.
    struct Source {
        fileprivate(set) var isOpen = false
        /// The connection that reads; opened when it is first needed, so that the store opens faster.
        fileprivate var database: Database?
        /// All headers with which cached decisions were ever compared; the last one is the current one.
        ///
        /// The old mappings stay readable: a call may be reading one of them now.
        fileprivate(set) var headers: [HeaderMapping] = []
        /// Rises with each opening, so that no cached decision outlives its file.
        fileprivate(set) var generation: UInt64 = 0
        /// The event after which a reader of events begins if the file could not be read when it was added.
        ///
        /// Each opening of another database sets it: to 0 if that was created since the former one was lost, else to
        /// its newest event.
        fileprivate(set) var origin: Int64 = 0
        /// The files that were opened last, also after they were closed, and the newest event at that opening.
        fileprivate(set) var lastOpened: (newestEvent: Int64, identity: FileIdentity)?
        fileprivate var lock: LockFile?
        /// The worker ids that this process has had in the file; the last one is the current one.
        fileprivate var workers: [WorkerID] = []
    }

    let source = Mutex(Source(), rank: .answers)
    private let clock: StoreClock
    private let file: StoreFile
    /// Whether data that must survive a power loss is synced.
    private let syncs: Bool

    init(_ file: StoreFile, _ clock: StoreClock, syncs: Bool) {
        self.clock = clock
        self.file = file
        self.syncs = syncs
    }

    // MARK: - Opening and closing

    /// Whether the database that was just opened is the one that was open before.
    ///
    /// - Parameter wasInPlace: whether the path led to the open database just before that database was closed.
    func isSameDatabase(_ opened: Opened, wasInPlace: Bool) throws(BreakerStoreError) -> Bool {
        let newest = try opened.writer.newestEvent()
        return self.source.withLock { source in
            wasInPlace && opened.identity.hasSameDatabase(as: source.lastOpened?.identity)
                && newest >= source.lastOpened?.newestEvent ?? 0
        }
    }

    /// Uses the files of an opening from now on.
    ///
    /// - Returns: the header with which cached decisions are compared; nil if decisions may not be cached.
    func use(_ opened: Opened, as reopened: Reopened) throws(BreakerStoreError) -> Gates.Header? {
        let newest = try opened.writer.newestEvent()
        return self.source.withLock { source in
            switch reopened {
            case .same: break
            case .createdSince: source.origin = 0
            case .other: source.origin = newest
            }
            source.lastOpened = (newest, opened.identity)
            source.isOpen = true
            source.generation += 1
            source.lock = opened.lock
            if !source.workers.contains(opened.worker.id) { source.workers.append(opened.worker.id) }
            guard opened.mayCacheDecisions, let index = opened.writer.connection.walIndex(),
                let mapping = HeaderMapping(of: index)
            else { return nil }
            source.headers.append(mapping)
            return Gates.Header(mapping: mapping, generation: source.generation)
        }
    }

    /// Whether the store's path still leads to the database that was opened last.
    ///
    /// The caller asks while that database is still open, so that no other file can have its inode number (ABA).
    var hasDatabaseInPlace: Bool {
        self.source.withLock { $0.lastOpened?.identity.hasDatabase(of: self.file) ?? false }
    }

    /// Whether all paths of the store lead to the open files.
    var isInPlace: Bool {
        self.source.withLock { source in
            source.isOpen && source.lastOpened?.identity == FileIdentity(of: self.file)
                && source.lock?.isInPlace ?? false
        }
    }

    /// Whether the path still leads to the database, but no longer to its log.
    var lacksOnlyLog: Bool {
        self.source.withLock { source in
            guard let known = source.lastOpened?.identity else { return false }
            let now = FileIdentity(of: self.file)
            return known.hasSameDatabase(as: now) && now.log != known.log
        }
    }

    /// The identity of the open files; nil if none are open.
    var identity: FileIdentity? { self.source.withLock { $0.isOpen ? $0.lastOpened?.identity : nil } }

    /// Closes the connection, and makes all cached decisions invalid.
    ///
    /// Called before the writer's connection is closed: after that another process may truncate the index, whose header
    /// is mapped here.
    func close() {
        self.source.withLock { source in
            source.headers.last?.retire()
            source.isOpen = false
            source.database = nil
        }
    }

    /// Closes the connection, and releases the lock file with this process's bytes in it.
    func leave() {
        self.close()
        self.source.withLock { $0.lock = nil }
    }

    /// The lock file, if it is open.
    var lockFile: LockFile? { self.source.withLock { $0.lock } }

    // MARK: - Workers

    /// Whether a worker id is or was this process's.
    func isOwn(_ worker: WorkerID) -> Bool { self.source.withLock { $0.workers.contains(worker) } }

    /// Whether a worker lives, by its locked byte; true if the lock file is not open.
    func isAlive(_ worker: WorkerID) -> Bool {
        let (lock, own) = self.source.withLock { ($0.lock, $0.workers.last) }
        return worker == own || lock?.isHeldByAnother(worker: worker) ?? true
    }

    // MARK: - Reading

    /// Runs `body` with the connection that reads; nil if the file is not open.
    func read<Value>(
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value? {
        try self.source.withLock { (source) throws(BreakerStoreError) -> Value? in
            guard source.isOpen, let identity = source.lastOpened?.identity else { return nil }
            let database = if let known = source.database { known } else { try self.open(as: identity) }
            source.database = database
            return try body(database)
        }
    }

    /// Opens another connection to the open files; throws if they have been replaced.
    func open(as identity: FileIdentity) throws(BreakerStoreError) -> Database {
        guard FileIdentity(of: self.file) == identity else { throw .moved(self.file.path) }
        return try Database.sharing(self.file, as: identity, syncs: self.syncs)
    }

    /// A circuit as a read for a call has found it.
    ///
    /// - `hasFailures`: whether there are failures that a success would forget; only the consecutive rule has such
    ///   failures.
    /// - `clock`: the clock row; nil for a closed circuit without a hold, or if the clock row is unreadable.
    /// - `header`: the header that was read before the circuit; nil if no decision may be cached.
    typealias Found = (
        row: CircuitRow, hasFailures: Bool, clock: ClockRow?, header: (tag: Tag, generation: UInt64)?
    )

    /// Reads the circuit for a call; nil if there is no circuit of this name.
    ///
    /// - Parameter database: a connection that the caller may use now.
    func find(_ readContext: ReadContext, through database: Database) throws(BreakerStoreError) -> Found? {
        // Read before the read transaction begins: so the circuit is at least as new as the header.
        let header = readContext.gate.tag()
        guard let (row, hasFailures) = try database.readForDecision(of: readContext.circuit.name) else { return nil }
        // A closed circuit lets calls through at any time.
        let isTimeless = row.circuit.state == .closed && row.circuit.hold == nil
        return (row, hasFailures, isTimeless ? nil : try ClockRow.read(database), header)
    }

    /// Decides about a call by what was read, and caches the decision for the next call.
    ///
    /// The caller holds no lock: the host's clock, which may be the user's code, is read here.
    ///
    /// - Returns: the decision, and the changes since the circuit was last read.
    func answer(
        _ found: Found, to readContext: ReadContext
    ) -> (decision: CallDecision, changes: (newConfig: CircuitBreaker.Config?, isAnotherCircuit: Bool)) {
        self.clock.follow(found.clock)
        var row = found.row.resolved(with: readContext.circuit.registeredConfig)
        let stored = row.circuit.state
        let now = self.clock.now
        row.circuit.clampFutureStamps(for: now)
        // If the stored end of an open circuit can't be right, a commit must correct it: if only the reader corrected
        // it, each read would compute a later end.
        let decision = CallDecision(
            row.circuit.state == stored ? row.circuit.answer(at: now, isAlive: self.isAlive) : .claim,
            of: row.circuit, hasFailures: found.hasFailures, uptime: self.clock.uptime)
        // `update` before `publish`: a call that the cached decision lets through must find its epoch in the counts.
        readContext.circuit.setLastReadUptime(self.clock.uptime(of: now))
        let changes = readContext.circuit.update(
            SharedCircuit.LastRead(row, at: now, self.clock),
            // Whether no process has committed since the read, as far as the header shows.
            if: { found.header.map { $0.tag == readContext.gate.tag()?.tag } ?? true })
        if let header = found.header, decision.mayBeCached {
            readContext.circuit.cache.publish(decision, readUnder: header.tag, generation: header.generation)
        }
        return (decision, changes)
    }
}
