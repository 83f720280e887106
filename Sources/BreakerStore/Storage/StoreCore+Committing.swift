import Synchronization

/// The funnel: the only way to change a circuit.
extension StoreCore: CommitQueue.Committer {
    /// Keeps the log short of the 1,000 frames at which a stock shell would checkpoint by itself.
    private static let framesBeforeCheckpoint = 200

    func wakeStoreThread() { self.thread.wake() }

    func commitWaiting(in queue: CommitQueue) {
        let failure: BreakerStoreError? = self.session.withLock { session in
            guard let opened = session?.opened else { return self.closedOrLost }
            do throws(BreakerStoreError) {
                try self.requireFiles(opened)
                let isLocked = try opened.writer.begin(unless: { !queue.expireOverdue(with: self.busy) })
                guard isLocked else { return self.busy }
                try self.commit(queue.takeAll(), opened)
                return nil
            } catch {
                opened.writer.rollback()
                return error
            }
        }
        if let failure {
            self.degrade(failure)
            queue.refuse(with: failure)
        }
    }

    /// Commits in the transaction that has begun; a batch that fails is tried again one by one.
    private func commit(_ tickets: [any AnyTicket], _ opened: Opened) throws(BreakerStoreError) {
        var completions: [@Sendable () -> Void] = []
        completions.reserveCapacity(tickets.count)
        let transaction: Transaction
        do throws(BreakerStoreError) {
            transaction = try self.transaction(opened)
            for ticket in tickets { completions.append(try ticket.perform(in: transaction)) }
            try transaction.flush()
            Hook.reached("commit.begin")
            try opened.writer.run("COMMIT")
            Hook.reached("commit.done")
            // The log may have been removed beneath: then nobody else will ever see what was written.
            try self.requireFiles(opened)
        } catch {
            opened.writer.rollback()
            guard !error.isOfTheFile else {
                for ticket in tickets { ticket.fail(error) }
                throw error
            }
            guard tickets.count > 1 else {
                for ticket in tickets { ticket.fail(error) }
                return
            }
            return try self.commitOneByOne(tickets, opened)
        }
        let syncError = self.syncIfNeeded(transaction, opened)
        for completion in completions { completion() }
        self.checkpointIfNeeded(opened)
        if let syncError { throw syncError }
    }

    private func commitOneByOne(_ tickets: [any AnyTicket], _ opened: Opened) throws(BreakerStoreError) {
        for (index, ticket) in tickets.enumerated() {
            do throws(BreakerStoreError) {
                guard try opened.writer.begin(unless: { ticket.deadline.isOver }) else {
                    ticket.fail(self.busy)
                    continue
                }
                try self.commit([ticket], opened)
            } catch {
                for rest in tickets[index...] { rest.fail(error) }
                throw error
            }
        }
    }

    /// A change of state must survive a power loss, a report a crash of the process.
    private func syncIfNeeded(_ transaction: Transaction, _ opened: Opened) -> BreakerStoreError? {
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
            // The change stands, others have seen it; but a later sync proves nothing about these pages.
            return error
        }
    }

    private func checkpointIfNeeded(_ opened: Opened) {
        guard let index = opened.reader.connection.walIndex(), index.pendingFrames >= Self.framesBeforeCheckpoint,
            !self.queue.isStoreThreadLeading
        else { return }
        if self.queue.wantLead() { self.thread.wake() }
    }

    /// The paths must lead to the files that are open, or nobody who comes later sees what is written.
    private func requireFiles(_ opened: Opened) throws(BreakerStoreError) {
        guard FileIdentity(of: self.file) == opened.identity else { throw self.moved }
    }

    var moved: BreakerStoreError {
        BreakerStoreError(
            code: .unavailable,
            message: "a file of the store was removed or replaced",
            path: self.file.path
        )
    }

    private var busy: BreakerStoreError {
        BreakerStoreError(
            code: .busy,
            message: "another process has kept the file locked until the deadline; try again",
            path: self.file.path
        )
    }

    var closedOrLost: BreakerStoreError {
        switch self.phase.withLock({ $0 }) {
        case .degraded(since: _, let error): error
        case .closed, .healthy: .closed(self.file.path)
        }
    }

    // MARK: - The thread

    /// Runs until the core is shut down.
    func runThread() {
        var pause = Duration.zero
        while true {
            if self.isClosed {
                self.shutDown()
                return
            }
            if self.queue.isStoreThreadLeading { self.lead() }
            if self.isDegraded {
                pause = self.tryToRecover() ? .zero : min(max(pause * 2, .milliseconds(50)), .seconds(1))
            } else {
                pause = .zero
            }
            self.thread.sleep(for: pause == .zero ? .seconds(1) : pause)
            self.watchFiles()
        }
    }

    private var isClosed: Bool { self.phase.withLock { if case .closed = $0 { true } else { false } } }

    /// Commits until nothing waits, then gives the lead up.
    private func lead() {
        repeat {
            self.checkpoint()
            self.commitWaiting(in: self.queue)
        } while !self.queue.giveUpLead()
    }

    private func checkpoint() {
        self.session.withLock { session in
            guard let opened = session?.opened, let index = opened.reader.connection.walIndex(),
                index.pendingFrames >= Self.framesBeforeCheckpoint
            else { return }
            do throws(BreakerStoreError) {
                if session?.checkpointer == nil {
                    let database = Database(try Connection(path: self.file.path, access: .readWrite))
                    try database.connection.configureForSharing()
                    session?.checkpointer = database
                }
                guard let checkpointer = session?.checkpointer else { return }
                let deadline = Deadline(after: self.configuration.busyTimeout)
                try opened.writer.checkpoint(through: checkpointer, until: deadline)
            } catch {
                self.degrade(error)
            }
        }
    }

    /// Nobody may notice by a commit that the file was replaced: cached answers are held against the old one.
    private func watchFiles() {
        // No lock: it may be held by a commit that hangs; the identity of what is open changes only on this thread.
        let isOther = self.identityInUse.map { FileIdentity(of: self.file) != $0 } ?? false
        if isOther { self.degrade(self.moved) }
        _ = self.queue.expireOverdue(with: self.busy)
    }

    private var identityInUse: FileIdentity? { self.session.withLockIfAvailable { $0?.opened.identity } ?? nil }

    private func tryToRecover() -> Bool {
        guard self.queue.wantLead() else { return false }
        do throws(BreakerStoreError) {
            try self.session.withLock { (session) throws(BreakerStoreError) in try self.reopen(&session) }
        } catch {
            return false
        }
        self.recovered()
        self.lead()
        return true
    }

    /// Commits what waits, leaves the file, and answers nobody any longer.
    private func shutDown() {
        if self.queue.wantLead() { self.lead() }
        self.queue.refuse(with: .closed(self.file.path))
        self.shutGates()
        self.session.withLock { session in
            if let opened = session?.opened {
                _ = try? opened.writer.transaction(until: Deadline(after: self.configuration.busyTimeout)) {
                    () throws(BreakerStoreError) in
                    try opened.writer.removeWorker(opened.worker.id)
                }
                Hook.reached("close.unregistered")
                opened.lock.unlock(worker: opened.worker.id)
            }
            session = nil
        }
        self.lockFile.withLock { $0 = nil }
    }
}

extension BreakerStoreError {
    static func closed(_ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .closed, message: "the store was closed", path: path)
    }

    static func forked(_ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .forked,
            message: "this process is a fork of the one that opened the store; open it anew here",
            path: path
        )
    }

    /// Whether the file or the system failed, so that no other change will fare better.
    var isOfTheFile: Bool { self.sqliteCode != nil || self.code == .unavailable }
}
