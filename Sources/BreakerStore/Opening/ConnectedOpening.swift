/// The second half of an opening, from the connection to the worker's row, under byte 0 of the lock file.
struct ConnectedOpening {
    private let opening: Opening
    private let lock: LockFile
    /// Whether this opening has made the lock file.
    private let isLockNew: Bool
    private let deadline: Deadline
    /// The files that were there when the plan decided to open them.
    private let found: FileIdentity
    private let writer: Database

    /// Connects to the file that was found; throws `moved` if the path leads to another file.
    init(
        _ opening: Opening, _ found: FileIdentity, _ lock: LockFile, isLockNew: Bool, _ deadline: Deadline
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

    /// - Parameters:
    ///   - checksWholeFile: whether SQLite checks the whole file before this process writes to it.
    ///   - hasDamagedRow: whether SQLite calls the file broken because of a row.
    func run(checksWholeFile: Bool, hasDamagedRow: Bool) throws(BreakerStoreError) -> Opened {
        let hasBadRows = try self.requireStore(checksWholeFile: checksWholeFile) || hasDamagedRow
        let lost = try Schema.migrate(
            self.writer.connection, self.file, mayCreate: self.opening.mayCreate, mayMigrate: self.opening.mayMigrate)
        try self.beginLog()
        let facts = try self.allFiles()
        try self.writer.connection.waitWhenBusy(.zero)
        try Reserve(self.writer, facts, self.deadline).fill(syncs: self.opening.configuration.syncs)
        let mended = Self.note(lostTriggers: lost) + (try self.mendNumbers())
        let (worker, incarnation, healed, mayKeepAnswers) = try self.join(hasDamagedRow: hasBadRows)
        // If another process renamed files meanwhile, the paths lead to other files than SQLite has open.
        guard FileIdentity(of: self.file) == facts.identity, self.lock.isInPlace else { throw .moved(self.file.path) }
        return Opened(
            writer: self.writer,
            lock: self.lock,
            worker: worker,
            identity: facts.identity,
            incarnation: incarnation,
            mended: mended + healed,
            mayKeepAnswers: mayKeepAnswers
        )
    }

    /// Throws unless log and wal-index belong to this database, this build knows its version, and the file is whole
    /// (checked only if `checksWholeFile`).
    ///
    /// - Returns: whether the check found bad rows.
    private func requireStore(checksWholeFile: Bool) throws(BreakerStoreError) -> Bool {
        let version = try self.writer.connection.integer("PRAGMA user_version")
        try self.requireUnchanged()
        // SQLite reads the schema only after this check: it may not understand a later program's schema.
        try Schema.requireKnownVersion(version, self.file.path)
        try self.writer.connection.configureForWriting()
        guard version != 0 else { return false }
        _ = try self.writer.connection.schemaVersion()
        guard checksWholeFile else { return false }
        switch try self.writer.condition() {
        case .sound: return false
        case .hasBadRows: return true
        case .broken:
            throw BreakerStoreError(code: .corrupt, message: "the file is damaged", path: self.file.path)
        }
    }

    private func requireUnchanged() throws(BreakerStoreError) {
        let now = FileIdentity(of: self.file)
        if now.hasAll(of: self.found) { return }
        // Another program has just removed the log, and the wal-index that is left describes that log.
        if self.found.hasLostLog(in: now) { try self.opening.deleteIndex() }
        throw .moved(self.file.path)
    }

    private func beginLog() throws(BreakerStoreError) {
        guard try self.writer.connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw BreakerStoreError(
                code: .unavailable, message: "SQLite can't keep a write-ahead log here", path: self.file.path)
        }
        Hook.reached("open.logged")
        // Called for its effect: tables that `migrate` has just made must be compared with the library's before
        // anything is written to them.
        _ = try self.writer.connection.schemaVersion()
        // The first read creates a missing log and wal-index.
        if !self.found.isComplete { _ = try self.writer.connection.integer("SELECT count(*) FROM clock") }
    }

    /// The files that SQLite has open; gives the log and the wal-index the database's group.
    private func allFiles() throws(BreakerStoreError) -> OpeningFacts {
        let facts = OpeningFacts(of: self.file)
        guard facts.identity.isComplete, facts.identity.hasAll(of: self.found) else { throw .moved(self.file.path) }
        self.opening.giveTheGroup(facts)
        return facts
    }

    /// Deletes rows whose numbers are so high that SQLite finds no numbers for new rows.
    private func mendNumbers() throws(BreakerStoreError) -> [StoreNote] {
        guard try self.writer.hasNumbersAtTheirEnd else { return [] }
        try self.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
            try self.writer.mendNumbers()
        }
        let reason = "deleted events and circuits with numbers so high that there were none left"
        return [StoreNote(transition: Transition(kind: .configured, reason: reason))]
    }

    private func join(
        hasDamagedRow: Bool
    ) throws(BreakerStoreError) -> (
        Worker, incarnation: Int64, healed: [StoreNote], mayKeepAnswers: Bool
    ) {
        let joining = Joining(
            writer: self.writer, lock: self.lock, clock: self.opening.clock,
            previous: self.opening.previous?.worker, name: self.opening.configuration.workerName,
            deadline: self.deadline)
        if self.isLockNew { try joining.waitForTheLiving() }
        let before = self.writer.connection.walIndex()?.tag()
        let (worker, incarnation, healed) = try joining.register(hasDamagedRow: hasDamagedRow)
        let after = self.writer.connection.walIndex()?.tag()
        Hook.reached("open.registered")
        // The self-test: this process's own commit must change the header.
        return (worker, incarnation, healed, before != after && after?.counts == true)
    }

    private static func note(lostTriggers names: [String]) -> [StoreNote] {
        guard !names.isEmpty else { return [] }
        let list = names.prefix(10).map(\.quoted).joined(separator: ", ") + (names.count > 10 ? " and others" : "")
        let reason = "the step to schema \(Versions.schema) has dropped triggers of others, which never ran: \(list)"
        return [StoreNote(transition: Transition(kind: .configured, reason: reason))]
    }
}
