/// The second half of an opening, from the connection to the worker's row; the caller holds the setup lock.
struct ConnectedOpening {
    private let opening: Opening
    private let lock: LockFile
    /// Whether this opening has made the lock file.
    private let isLockNew: Bool
    private let deadline: Deadline
    /// The files that the plan decided to open.
    private let found: FileIdentity
    private let writer: Database

    /// Connects to the file that was found; throws `moved` if the path leads to another file.
    init(
        _ opening: Opening, found: FileIdentity, lock: LockFile, isLockNew: Bool, deadline: Deadline
    ) throws(BreakerStoreError) {
        (self.opening, self.found, self.lock, self.deadline) = (opening, found, lock, deadline)
        self.isLockNew = isLockNew
        let file = opening.file
        self.writer = Database(
            // `OpeningFacts.refusal` has just examined the files.
            try Connection(path: file.path, access: .readWrite, syncs: opening.configuration.syncs, isSafe: true))
        Hook.reached("open.connected")
        guard self.writer.isOpen(at: file, as: found) else { throw .moved(file.path) }
        try self.writer.connection.waitWhenBusy(deadline.remaining)
        try self.writer.connection.configureForReading()
    }

    private var file: StoreFile { self.opening.file }

    /// Migrates the file if needed, and makes this process one of its workers.
    ///
    /// - Parameters:
    ///   - checksWholeFile: whether SQLite checks the whole file before this process writes to it.
    ///   - mayHaveBadRows: whether SQLite has called the file broken, which was not confirmed: bad rows may be why.
    func run(checksWholeFile: Bool, mayHaveBadRows: Bool) throws(BreakerStoreError) -> Opened {
        let mayHaveBadRows = try self.prepareStore(checksWholeFile: checksWholeFile) || mayHaveBadRows
        let lostTriggers = try Schema.migrate(
            self.writer.connection, self.file, mayCreate: self.opening.mayCreate, mayMigrate: self.opening.mayMigrate)
        try self.startLog()
        let facts = try self.adoptAllFiles()
        // From here on the transactions themselves wait, until the deadline.
        try self.writer.connection.waitWhenBusy(.zero)
        try Reserve(self.writer, facts, self.deadline).fill(syncs: self.opening.configuration.syncs)
        let notes = Self.notes(lostTriggers: lostTriggers) + (try self.repairRowIDs())
        let (worker, incarnation, repaired, mayCacheDecisions) = try self.join(mayHaveBadRows: mayHaveBadRows)
        // If another process has renamed files since, the paths lead to other files than those that SQLite has open.
        guard FileIdentity(of: self.file) == facts.identity, self.lock.isInPlace else { throw .moved(self.file.path) }
        return Opened(
            writer: self.writer,
            lock: self.lock,
            worker: worker,
            identity: facts.identity,
            incarnation: incarnation,
            repaired: notes + repaired,
            mayCacheDecisions: mayCacheDecisions
        )
    }

    /// Configures the connection for writing; throws unless log and wal-index belong to this database, this build knows
    /// its version, and the file is whole (checked only if `checksWholeFile`).
    ///
    /// - Returns: whether the check found bad rows.
    private func prepareStore(checksWholeFile: Bool) throws(BreakerStoreError) -> Bool {
        let version = try self.writer.connection.integer("PRAGMA user_version")
        try self.requireUnchanged()
        // SQLite reads the schema only after this check: it may not understand a later program's schema.
        try Schema.requireKnownVersion(version, self.file.path)
        try self.writer.connection.configureForWriting()
        guard version != 0 else { return false }
        try self.writer.connection.requireVerifiedSchema()
        guard checksWholeFile else { return false }
        switch try self.writer.condition() {
        case .sound: return false
        case .hasBadRows: return true
        case .broken:
            throw BreakerStoreError(code: .corrupt, message: "the file is damaged", path: self.file.path)
        }
    }

    /// Throws `moved` if a file has been removed or replaced since the plan decided; first deletes a wal-index that has
    /// lost its log.
    private func requireUnchanged() throws(BreakerStoreError) {
        let now = FileIdentity(of: self.file)
        if now.hasAll(of: self.found) { return }
        // If another program has just removed the log, the wal-index that is left describes the removed log.
        if self.found.hasLostLog(in: now) { try self.opening.deleteIndex() }
        throw .moved(self.file.path)
    }

    /// Switches the database to WAL mode, and creates a missing log and wal-index.
    private func startLog() throws(BreakerStoreError) {
        guard try self.writer.connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw BreakerStoreError(
                code: .unavailable, message: "SQLite can't keep a write-ahead log here", path: self.file.path)
        }
        Hook.reached("open.logged")
        // Tables that `migrate` has just made are compared with the library's, too, before anything is written to them.
        try self.writer.connection.requireVerifiedSchema()
        // SQLite creates a missing log and wal-index at the first read.
        if !self.found.isComplete { _ = try self.writer.connection.integer("SELECT count(*) FROM clock") }
    }

    /// Returns the files that SQLite has open, and gives the log and the wal-index the database's group.
    ///
    /// Throws `moved` unless all three are there and are those that were found.
    private func adoptAllFiles() throws(BreakerStoreError) -> OpeningFacts {
        let facts = OpeningFacts(of: self.file)
        guard facts.identity.isComplete, facts.identity.hasAll(of: self.found) else { throw .moved(self.file.path) }
        self.opening.setDatabaseGroup(facts)
        return facts
    }

    /// Deletes rows whose ids are so high that SQLite has no id left for new rows; returns a note if it did.
    private func repairRowIDs() throws(BreakerStoreError) -> [StoreNote] {
        guard try self.writer.isRowIDSpaceExhausted else { return [] }
        try self.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
            try self.writer.repairRowIDs()
        }
        let reason = "deleted events and circuits that had exhausted SQLite's row ids"
        return [StoreNote(transition: Transition(kind: .configured, reason: reason))]
    }

    private func join(
        mayHaveBadRows: Bool
    ) throws(BreakerStoreError) -> (
        Worker, incarnation: Int64, repaired: [StoreNote], mayCacheDecisions: Bool
    ) {
        let joining = Joining(
            writer: self.writer, lock: self.lock, clock: self.opening.clock,
            previous: self.opening.previous?.worker, name: self.opening.configuration.workerName,
            deadline: self.deadline)
        if self.isLockNew { try joining.waitForLivingWorkers() }
        let before = self.writer.connection.walIndex()?.tag()
        let (worker, incarnation, repaired) = try joining.register(mayHaveBadRows: mayHaveBadRows)
        let after = self.writer.connection.walIndex()?.tag()
        Hook.reached("open.registered")
        // A self-test: cached decisions are safe only if a commit changes the header, as this process's own must have.
        return (worker, incarnation, repaired, before != after && after?.isReliable == true)
    }

    /// A note for the history about triggers of other programs that the migration has dropped; empty if there are none.
    private static func notes(lostTriggers names: [String]) -> [StoreNote] {
        guard !names.isEmpty else { return [] }
        let list = names.prefix(10).map(\.quoted).joined(separator: ", ") + (names.count > 10 ? " and others" : "")
        let reason = "the step to schema \(Versions.schema) has dropped triggers of others, which never ran: \(list)"
        return [StoreNote(transition: Transition(kind: .configured, reason: reason))]
    }
}
