import Synchronization

/// What the store's thread does.
extension StoreCore {
    /// Runs until the core is shut down.
    func runThread() {
        var backOff = BackOff(first: self.configuration.firstRetry)
        while true {
            if self.isClosed {
                self.shutDown()
                return
            }
            if self.checkpointIsDue.load(ordering: .relaxed) { self.prepareCheckpoint() }
            if self.queue.isStoreThreadLeading { self.lead() }
            // Who still leads wakes this thread when it is done: no try is spent on that.
            if self.isDegraded, backOff.isOver, self.queue.wantLead() {
                backOff.begin()
                self.tryToRecover()
            }
            self.thread.sleep(for: self.isDegraded ? max(backOff.remaining, .milliseconds(10)) : self.watchInterval)
            self.watchFiles()
            // A report may have been refused in the very moment in which the file came back.
            if !self.isDegraded {
                self.tellUntold()
                self.tellUnregistered()
                self.tellKept()
                self.tellRefusalsIfDue()
                self.forgetIdleIfDue()
            }
        }
    }

    /// How long the thread sleeps when it has nothing to do.
    ///
    /// Without a circuit there are no answers that a replaced file would make stale: then it sleeps until it is woken.
    var watchInterval: Duration {
        if self.configuration.forgetIdleAfter != nil { return .seconds(1) }
        return self.registered.withLock { $0.isEmpty } ? .seconds(1_000_000) : .seconds(1)
    }

    /// Looks for circuits that nobody uses, four times in the time after which they are forgotten.
    private func forgetIdleIfDue() {
        guard let idle = self.configuration.forgetIdleAfter?.saturatingMicroseconds else { return }
        let now = self.clock.now
        let last = self.lastSweep.load(ordering: .relaxed)
        guard now.microseconds.subtractingSaturating(last) >= idle / 4 else { return }
        self.lastSweep.store(now.microseconds, ordering: .relaxed)
        self.post(until: Deadline(after: self.configuration.busyTimeout)) { (transaction) throws(BreakerStoreError) in
            try transaction.forgetIdle(since: transaction.now.adding(-idle))
        }
    }

    /// Commits until nothing waits, then gives the lead up.
    private func lead() {
        repeat {
            self.checkpointIfDue()
            self.commitWaiting(in: self.queue)
        } while !self.queue.giveUpLead()
    }

    /// Syncs the log while callers go on committing, then asks for the lead: else the sync would happen while they wait.
    private func prepareCheckpoint() {
        let checkpointer = self.session.withLock { $0?.checkpointer }
        // What fails here fails again in the checkpoint, which tells of it.
        try? checkpointer?.connection.syncLog()
        _ = self.queue.wantLead()
    }

    private func checkpointIfDue() {
        self.checkpointIsDue.store(false, ordering: .relaxed)
        self.session.withLock { session in
            guard let opened = session?.opened, let index = opened.writer.connection.walIndex(),
                index.pendingFrames >= Self.framesBeforeCheckpoint
            else { return }
            do throws(BreakerStoreError) {
                try self.checkpoint(&session)
            } catch {
                // Somebody opens or locks the file just now: there is time.
                if error.code != .busy { self.degrade(error) }
            }
        }
    }

    private func checkpoint(_ session: inout Session?) throws(BreakerStoreError) {
        guard let opened = session?.opened else { return }
        let deadline = Deadline(after: self.configuration.busyTimeout)
        // Under the guard nobody begins with other files: pages of a log that is gone must not get into the database. Who
        // has it may open the store for long, and all that waits in the queue would wait with us: so later, if not now.
        var checkpointer = session?.checkpointer
        try opened.lock.withGuard(until: Deadline(after: .zero)) { () throws(BreakerStoreError) in
            guard self.hasFilesAndLock(opened) else { throw self.moved }
            if checkpointer == nil {
                checkpointer = try Database.sharing(self.file, as: opened.identity)
                try checkpointer?.connection.syncLog()
            }
            guard let other = checkpointer else { return }
            try opened.writer.checkpoint(through: other, until: deadline)
        }
        session?.checkpointer = checkpointer
    }

    /// Nobody may notice by a commit that the file was replaced: cached answers are held against the old one.
    private func watchFiles() {
        // No lock: it may be held by a commit that hangs; the identity of what is open changes only on this thread.
        let opened = self.session.withLockIfAvailable { $0?.opened } ?? nil
        if let opened, !self.hasFilesAndLock(opened) {
            self.degrade(self.moved)
        }
        _ = self.queue.expireOverdue(with: self.busy, self)
    }

    /// Whether all paths still lead to what is open.
    private func hasFilesAndLock(_ opened: Opened) -> Bool {
        FileIdentity(of: self.file) == opened.identity && opened.lock.isInPlace
    }

    /// Brings the file back: as it is open if that works again, else opened anew; this thread has the lead.
    private func tryToRecover() {
        do throws(BreakerStoreError) {
            let isBack = try self.session.withLock { (session) throws(BreakerStoreError) in
                // SQLite says that the disk is full, too, when an event would get a number above the highest there is.
                let isSuspect =
                    self.isFileSuspect || self.isFull && (try? session?.opened.writer.hasNumbersAtTheirEnd) == true
                // A log that is copied begins anew, in the blocks that it has.
                if self.isFull { try? self.checkpoint(&session) }
                if !isSuspect, let opened = session?.opened, self.hasFilesAndLock(opened), self.canRead,
                    let isWritable = self.canWrite(opened)
                {
                    guard isWritable else { return false }
                } else {
                    try self.reopen(&session, isSuspect: isSuspect)
                }
                return try self.makeUpForFailedSync(&session)
            }
            if isBack { self.recovered() }
            self.lead()
        } catch {
            _ = self.queue.giveUpLead()
        }
    }

    private var isFull: Bool { self.loss?.code == .full }

    /// Whether SQLite has called the file broken, so that it must be looked through.
    private var isFileSuspect: Bool { self.loss?.code == .corrupt && self.loss?.sqliteCode != nil }

    /// Why the file can't be used.
    private var loss: BreakerStoreError? {
        switch self.health {
        case .degraded(since: _, let error): error
        case .healthy, .closed: nil
        }
    }

    /// Whether the connection that answers calls can be read through.
    private var canRead: Bool {
        (try? self.read { (database) throws(BreakerStoreError) in try database.first("SELECT boot FROM clock") { _ in }
        })
            != nil
    }

    /// Whether the connection that is open commits again; false if others still lock the file, nil if it must be opened
    /// anew.
    private func canWrite(_ opened: Opened) -> Bool? {
        // Others use the file by turns: who asks just once in a while may ask in vain for long.
        let deadline = Deadline(after: self.configuration.busyTimeout)
        do throws(BreakerStoreError) {
            guard try opened.writer.begin(unless: { deadline.isOver || self.isClosed }) else { return false }
            defer { opened.writer.rollback() }
            // A value that stays the same would write nothing, and prove nothing.
            try opened.writer.run(
                "UPDATE worker SET since = since - 1 WHERE id = ?1",
                .integer(opened.worker.id)
            )
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

    /// Copies the whole log into the database, which is synced; false if a reader is in the way.
    private func makeUpForFailedSync(_ session: inout Session?) throws(BreakerStoreError) -> Bool {
        guard self.needsFullCheckpoint.load(ordering: .relaxed) else { return true }
        try self.checkpoint(&session)
        guard let index = session?.opened.writer.connection.walIndex(), index.pendingFrames == 0 else { return false }
        self.needsFullCheckpoint.store(false, ordering: .relaxed)
        return true
    }

    /// Commits what waits, leaves the file, and answers nobody any longer.
    private func shutDown() {
        let deadline = Deadline(after: self.configuration.busyTimeout)
        while !self.queue.wantLead(), !deadline.isOver { deadline.pause() }
        if self.queue.isStoreThreadLeading { self.lead() }
        self.queue.refuse(with: .closed(self.file.path))
        self.shutGates()
        self.session.withLock { session in
            if let opened = session?.opened {
                _ = try? opened.writer.transaction(until: Deadline(after: self.configuration.busyTimeout)) {
                    () throws(BreakerStoreError) in
                    try opened.writer.removeWorker(opened.worker.id, at: self.clock.now)
                    try opened.writer.add(refusals: self.refusals.take(at: self.clock.uptime))
                    try self.requireIndex(opened)
                }
                Hook.reached("close.unregistered")
                opened.lock.unlock(worker: opened.worker.id)
            }
            session = nil
        }
        self.membership.withLock { $0 = nil }
        self.reading.withLock { $0.close() }
        self.viewer.withLock { $0 = nil }
    }
}
