import Synchronization

/// How a database that was opened compares with the one that was open before.
enum Reopened {
    case same
    /// Another one, which was created after the one before was lost.
    case createdSince
    /// Another one that existed then, or the first one that this process opens.
    case other
}

/// The sources of the answers to calls: the connection that reads, and the header with which kept answers are compared.
final class Answers: Sendable {
    /// The files and connections that are open now.
    struct Source {
        fileprivate(set) var isOpen = false
        /// The connection that reads, opened when it is first needed, so that the store opens faster.
        fileprivate var database: Database?
        /// All headers with which answers were ever compared; the last header is the present one.
        ///
        /// The old headers stay readable: a call may be reading one of them now.
        fileprivate(set) var headers: [HeaderMapping] = []
        /// Rises with each opening, so that no answer outlives its file.
        fileprivate(set) var generation: UInt64 = 0
        /// The event after which a reader begins that could not read the file before: the newest when the file was
        /// first opened; none, if the file was created since.
        fileprivate(set) var origin: Int64 = 0
        /// The newest event when the file was last opened, and the identity of that file.
        fileprivate(set) var newest: (id: Int64, identity: FileIdentity)?
        fileprivate var lock: LockFile?
        /// The workers that this process has been in the file; the last worker is the present one.
        fileprivate var workers: [Int64] = []
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

    /// Whether an opening has opened the database that was open before.
    ///
    /// - Parameter maybeSame: whether the path led to the open database just before that database was closed.
    func isSameDatabase(_ opened: Opened, maybeSame: Bool) throws(BreakerStoreError) -> Bool {
        let newest = try opened.writer.newestEvent()
        return self.source.withLock { source in
            maybeSame && opened.identity.hasDatabase(of: source.newest?.identity) && newest >= source.newest?.id ?? 0
        }
    }

    /// Takes over the files and the writer of an opening; calls read them from now on.
    ///
    /// - Returns: the header with which answers may be compared.
    func opened(_ opened: Opened, _ reopened: Reopened) throws(BreakerStoreError) -> Gates.Header? {
        let newest = try opened.writer.newestEvent()
        return self.source.withLock { source in
            switch reopened {
            case .same: break
            case .createdSince: source.origin = 0
            case .other: source.origin = newest
            }
            source.newest = (newest, opened.identity)
            source.isOpen = true
            source.generation += 1
            source.lock = opened.lock
            if !source.workers.contains(opened.worker.id) { source.workers.append(opened.worker.id) }
            guard opened.mayKeepAnswers, let index = opened.writer.connection.walIndex(),
                let mapping = HeaderMapping(of: index)
            else { return nil }
            source.headers.append(mapping)
            return Gates.Header(mapping: mapping, generation: source.generation)
        }
    }

    /// Whether the database's path leads to the database that was opened last.
    ///
    /// The caller asks while that database is still open: no other file can get its inode number.
    var hasDatabaseInPlace: Bool { self.source.withLock { $0.newest?.identity.hasDatabase(of: self.file) ?? false } }

    /// Whether all paths lead to the open files.
    var isInPlace: Bool {
        self.source.withLock { source in
            source.isOpen && source.newest?.identity == FileIdentity(of: self.file)
                && source.lock?.isInPlace ?? false
        }
    }

    /// Whether the database is still in its place, and its log is not.
    var hasOnlyLostLog: Bool {
        self.source.withLock { source in
            guard let known = source.newest?.identity else { return false }
            let now = FileIdentity(of: self.file)
            return known.hasDatabase(of: now) && now.log != known.log
        }
    }

    /// Which files are open; nil if none are.
    var identity: FileIdentity? { self.source.withLock { $0.isOpen ? $0.newest?.identity : nil } }

    /// Closes the connection; no kept answer counts any longer.
    ///
    /// Called before the writer's connection is closed: the process that opens the file next may truncate the index,
    /// whose header is mapped here.
    func close() {
        self.source.withLock { source in
            source.headers.last?.retire()
            source.isOpen = false
            source.database = nil
        }
    }

    /// Closes the connection, and releases the lock file and this process's bytes in it.
    func leave() {
        self.close()
        self.source.withLock { $0.lock = nil }
    }

    /// The lock file, if it is open.
    var lockFile: LockFile? { self.source.withLock { $0.lock } }

    // MARK: - Workers

    /// Whether a worker is or was this process.
    func isOwn(_ worker: Int64) -> Bool { self.source.withLock { $0.workers.contains(worker) } }

    /// Whether a worker lives, as far as a reader can tell; true if the lock file is not open.
    func isAlive(_ worker: Int64) -> Bool {
        let (lock, own) = self.source.withLock { ($0.lock, $0.workers.last) }
        return worker == own || lock?.isHeldByAnother(worker: worker) ?? true
    }

    // MARK: - Answering

    /// Runs `body` with the connection that reads; nil if the file is not open.
    func read<Value>(
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value? {
        try self.source.withLock { (source) throws(BreakerStoreError) -> Value? in
            guard source.isOpen, let identity = source.newest?.identity else { return nil }
            let database = if let known = source.database { known } else { try self.open(as: identity) }
            source.database = database
            return try body(database)
        }
    }

    /// Another connection to the files that are open.
    func open(as identity: FileIdentity) throws(BreakerStoreError) -> Database {
        guard FileIdentity(of: self.file) == identity else { throw .moved(self.file.path) }
        return try Database.sharing(self.file, as: identity, syncs: self.syncs)
    }

    /// A circuit as a look has found it.
    ///
    /// - `hasFailures`: whether there are failures that a success would forget; only the consecutive rule has such
    ///   failures.
    /// - `clock`: the clock row; nil for a closed circuit without a hold, or if the clock row is unreadable.
    /// - `held`: the header under which the circuit was read; nil if there was none to compare.
    typealias Found = (
        row: CircuitRow, hasFailures: Bool, clock: ClockRow?, held: (tag: Tag, generation: UInt64)?
    )

    /// Reads the circuit for a call; nil if there is no circuit of this name.
    ///
    /// - Parameter database: a connection that the caller may use now.
    func find(_ asker: Asker, through database: Database) throws(BreakerStoreError) -> Found? {
        // Taken before the read begins: the circuit that is read is at least as new as the header.
        let held = asker.gate.tag()
        guard let (row, hasFailures) = try database.look(at: asker.circuit.name) else { return nil }
        // A closed circuit lets calls through at any time.
        let isTimeless = row.circuit.state == .closed && row.circuit.hold == nil
        return (row, hasFailures, isTimeless ? nil : try ClockRow.read(database), held)
    }

    /// Answers from a look, and keeps the answer for the next call.
    ///
    /// The caller holds no lock: the host's clock, which may be the user's code, is read here.
    ///
    /// - Returns: the answer, and the changes since the circuit was last read.
    func answer(
        _ found: Found, to asker: Asker
    ) -> (answer: CallAnswer, news: (newConfig: CircuitBreaker.Config?, isAnother: Bool)) {
        self.clock.follow(found.clock)
        var row = found.row.guarded(by: asker.circuit.registeredConfig)
        let stored = row.circuit.state
        let now = self.clock.now
        row.circuit.takeStampsAhead(for: now)
        // If the stored end of an open circuit can't be right, a commit must correct it. Corrected only here, the end
        // would be computed again at each look, from a later now, and never come.
        let answer = CallAnswer(
            row.circuit.state == stored ? row.circuit.answer(at: now, isAlive: self.isAlive) : .claim,
            of: row.circuit, hasFailures: found.hasFailures, uptime: self.clock.uptime)
        // `know` before `publish`: a call that the kept answer lets through must find its epoch in the counts.
        asker.circuit.noteLook(at: self.clock.uptime(of: now))
        let news = asker.circuit.know(SharedCircuit.LastRead(row, at: now, self.clock)) {
            // Whether no process has committed since the read, as far as the header shows.
            found.held.map { $0.tag == asker.gate.tag()?.tag } ?? true
        }
        if let held = found.held, answer.mayBeKept {
            asker.circuit.slot.publish(answer, readUnder: held.tag, generation: held.generation)
        }
        return (answer, news)
    }
}
