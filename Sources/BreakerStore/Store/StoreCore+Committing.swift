import Synchronization

/// The funnel: the only way to change a circuit.
extension StoreCore: CommitQueue.Committer {
    /// Keeps the log short of the 1,000 frames at which a stock shell would checkpoint by itself.
    static let framesBeforeCheckpoint = 200
    /// The log's reserve for a full disk is nearly used up: nobody goes on before the store's thread has copied it.
    static let framesBeforeWaiting = 230

    func wakeStoreThread() { self.thread.wake() }

    func commitWaiting(in queue: CommitQueue) {
        let failure: BreakerStoreError? = self.session.withLock { session in
            guard let opened = session?.opened else { return self.closedOrLost }
            do throws(BreakerStoreError) {
                // Others may have the file locked: a store that has nothing to write does not mind.
                guard queue.beginRound() else { return nil }
                try self.requireIndex(opened)
                let isLocked = try opened.writer.begin(unless: { queue.expireOverdue(with: self.busy, self) })
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
    ///
    /// - Parameter isHealed: whether all rows have been looked through because one of them was in the way.
    private func commit(
        _ tickets: [any AnyTicket],
        _ opened: Opened,
        isHealed: Bool = false
    ) throws(BreakerStoreError) {
        var completions: [@Sendable () -> Void] = []
        completions.reserveCapacity(tickets.count)
        let transaction: Transaction
        do throws(BreakerStoreError) {
            transaction = try self.transaction(opened)
            for ticket in tickets { completions.append(try ticket.perform(in: transaction)) }
            try transaction.flush()
            // A cleaner may have removed the lock file: others take this worker for dead, and its slots for free.
            if transaction.hasClaims, !opened.lock.isInPlace { throw self.moved }
            Hook.reached("commit.begin")
            try self.requireIndex(opened)
            try opened.writer.run("COMMIT")
            Hook.reached("commit.done")
            // A file may have been removed or replaced beneath: then nobody else will ever see what was written.
            try self.requireFiles(opened)
        } catch {
            opened.writer.rollback()
            guard !error.isOfTheFile else {
                self.fail(tickets, error)
                throw error
            }
            guard tickets.count == 1 else { return try self.commitOneByOne(tickets, opened) }
            guard error.isOfRows else {
                tickets[0].fail(error)
                return
            }
            // A store whose rows keep a failure from being counted is not healthy, or nothing would guard.
            guard !isHealed else {
                let error = BreakerStoreError.unwritable(error)
                self.fail(tickets, error)
                throw error
            }
            return try self.commitHealed(tickets, opened)
        }
        let syncError = self.syncIfNeeded(transaction, opened)
        // Before anybody hears that it is done: what is not on the disk is not acknowledged.
        if let syncError { self.degrade(syncError) }
        self.refreshAnswers(tickets, opened)
        for completion in completions { completion() }
        if !transaction.events.isEmpty { self.hub.wake() }
        self.checkpointIfNeeded(opened)
        if let syncError { throw syncError }
    }

    /// Reads anew what the callers will ask next, while the connection still has the pages.
    ///
    /// It also notes in the wal-index how far this process reads: so no healthy call has to write there.
    private func refreshAnswers(_ tickets: [any AnyTicket], _ opened: Opened) {
        var refreshed: Set<ObjectIdentifier> = []
        for ticket in tickets {
            guard let asker = ticket.asker, refreshed.insert(ObjectIdentifier(asker.circuit)).inserted else { continue }
            _ = try? self.look(asker, through: opened.writer)
        }
    }

    private func commitOneByOne(_ tickets: [any AnyTicket], _ opened: Opened) throws(BreakerStoreError) {
        for (index, ticket) in tickets.enumerated() {
            do throws(BreakerStoreError) {
                guard try opened.writer.begin(unless: { ticket.deadline.isOver }) else { throw self.busy }
                try self.commit([ticket], opened)
            } catch {
                self.fail(Array(tickets[index...]), error)
                throw error
            }
        }
    }

    /// Tries once more, with all rows as they should be.
    private func commitHealed(_ tickets: [any AnyTicket], _ opened: Opened) throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try self.heal(opened)
            guard try opened.writer.begin(unless: { tickets.allSatisfy(\.deadline.isOver) }) else { throw self.busy }
        } catch {
            self.fail(tickets, error)
            throw error
        }
        try self.commit(tickets, opened, isHealed: true)
    }

    /// Makes rows readable and writable that no version of this library can have written, and tells the history.
    func heal(_ opened: Opened) throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try opened.writer.transaction(until: Deadline(after: self.configuration.busyTimeout)) {
                () throws(BreakerStoreError) in
                let transaction = try self.transaction(opened)
                var healing = Healing(opened.writer, at: transaction.now, configs: self.registered.withLock { $0 })
                try healing.run()
                for note in healing.notes { try transaction.write(note.transition, of: note.circuit, by: nil) }
                try transaction.flush()
                try self.requireIndex(opened)
            }
        } catch {
            throw error.isOfRows ? .unwritable(error) : error
        }
        try self.requireFiles(opened)
    }

    /// Tells of a failure those who wait, who must find the store degraded: what they report is not acknowledged.
    private func fail(_ tickets: [any AnyTicket], _ error: BreakerStoreError) {
        self.degrade(error)
        for ticket in tickets { ticket.fail(error) }
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
            // The change stands, others have seen it. A later sync of the log proves nothing about these pages: they are on
            // the disk once they are in the database.
            self.needsFullCheckpoint.store(true, ordering: .relaxed)
            return error
        }
    }

    private func checkpointIfNeeded(_ opened: Opened) {
        guard let frames = opened.writer.connection.walIndex()?.pendingFrames, frames >= Self.framesBeforeCheckpoint
        else { return }
        // Whoever leads now hands the lead over.
        if frames >= Self.framesBeforeWaiting { _ = self.queue.wantLead() }
        if !self.checkpointIsDue.exchange(true, ordering: .relaxed) { self.thread.wake() }
    }

    /// Who writes to the log under an index that others no longer have destroys what they have written there.
    ///
    /// Asked again as late as can be: the lock may be long in coming, and keeps those away alone who have the same index.
    func requireIndex(_ opened: Opened) throws(BreakerStoreError) {
        guard opened.identity.hasIndex(of: self.file) else { throw self.moved }
    }

    /// The paths must lead to the files that are open, or nobody who comes later sees what is written.
    private func requireFiles(_ opened: Opened) throws(BreakerStoreError) {
        guard FileIdentity(of: self.file) == opened.identity else { throw self.moved }
    }

    var moved: BreakerStoreError { .moved(self.file.path) }

    var busy: BreakerStoreError {
        BreakerStoreError(
            code: .busy,
            message: "another process has kept the file locked until the deadline",
            advice: "try again",
            path: self.file.path
        )
    }

    var closedOrLost: BreakerStoreError {
        switch self.phase.withLock({ $0 }) {
        case .degraded(since: _, let error): error
        case .closed, .healthy: .closed(self.file.path)
        }
    }
}

extension BreakerStoreError {
    static func moved(_ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .unavailable, message: "a file of the store was removed or replaced", path: path)
    }

    static func closed(_ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .closed, message: "the store was closed", path: path)
    }

    static func forked(_ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .forked,
            message: "this process is a fork of the one that opened the store",
            advice: "open it anew here",
            path: path
        )
    }

    /// Rows that stay in the way after they have been healed: the file is no store any longer.
    static func unwritable(_ error: BreakerStoreError) -> BreakerStoreError {
        BreakerStoreError(
            code: .corrupt, message: "the store does not take what it must take: \(error.message)",
            sqliteCode: error.sqliteCode, path: error.path)
    }

    /// Whether SQLite refused a value of one row, where other rows may fare better.
    var isOfOneRow: Bool { self.sqliteCode.map(SQLiteCode.isOfOneRow) ?? false }

    /// Whether the file or the system failed, so that no other change will fare better.
    var isOfTheFile: Bool {
        guard let code = self.sqliteCode else { return self.code == .unavailable }
        return self.code == .corrupt || !SQLiteCode.isOfOneRow(code)
    }

    /// Whether a row was in the way that no version of this library can have written.
    var isOfRows: Bool {
        guard let code = self.sqliteCode else { return self.code == .corrupt }
        return SQLiteCode.isOfOneRow(code)
    }
}
