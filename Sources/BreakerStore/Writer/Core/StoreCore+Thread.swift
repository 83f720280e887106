import Synchronization

/// The work of the store's thread, which no caller's thread may do.
extension StoreCore {
    /// Runs until the last store has left and the waiting tickets are committed.
    ///
    /// Sleeps until it is first woken, so that it does not disturb callers that open a store and register circuits.
    func runThread() {
        self.thread.sleep(until: nil)
        // Later, because the caller that has woken this thread makes its first call now, maybe on the only free core.
        var firstRead: ContinuousClock.Instant? = .now + Self.schemaPause
        while true {
            switch self.apply({ $0.nextThreadWork(at: .now) }) {
            case .syncLog: self.writer.syncLog()
            case .lead: self.lead()
            case .recover: self.recover()
            case .maintenance: self.runMaintenance()
            case .finish: return self.finish()
            case .sleep(until: let time):
                let first = self.health == .healthy ? firstRead : nil
                if let first, first <= .now {
                    self.warmReadConnection()
                    firstRead = nil
                } else {
                    self.thread.sleep(until: [time, first].compactMap(\.self).min())
                }
            }
        }
    }

    /// Commits until no ticket waits, then gives up the lead.
    private func lead() {
        repeat {
            if self.update({ $0.claimDueCheckpoint() }) { self.checkpoint() }
            self.commitRound()
        } while !self.update { $0.releaseLeadIfIdle() }
    }

    private func checkpoint() {
        do throws(BreakerStoreError) {
            try self.writer.checkpoint()
        } catch {
            // Another process is opening or locking the file: a later checkpoint will do.
            if error.code != .busy { self.lose(error) }
        }
    }

    // MARK: - Maintenance

    /// Has the store's thread run a maintenance pass now.
    func requestMaintenance() {
        self.update { $0.setMaintenanceDue(at: .now) }
        self.thread.wake()
    }

    /// Checks that the files are in their places, and saves notes, reports and counts that the file does not have yet.
    ///
    /// Cached decisions are compared with the header of the open file. So calls alone would not notice that another
    /// file has replaced it.
    private func runMaintenance() {
        OpenFile.refreshSizeLimit()
        if !self.checkFilesInPlace() { return self.lose(.moved(self.file.path)) }
        // If the leader hangs, callers find out at the deadlines of their tickets. Posted tickets have no caller, so
        // this thread checks their deadlines.
        _ = self.giveUpIfOverdue()
        // A report may have been refused, and kept in the outbox, just when the file came back.
        self.writeOutbox()
        self.registerAgain()
        self.publishHealth()
        self.publishAllCounts()
        self.saveCountersIfDue()
        self.startLongTextSearchIfDue()
        if self.cleanUpIdleCircuits() { self.update { $0.setMaintenanceDue(at: .now) } }
    }

    /// Starts a search of the file for overlong texts, once after each opening.
    ///
    /// If the search throws, `readFailed` acts on the error: the next commit deletes rows with an overlong text, and an
    /// overlong key makes the file count as broken, so that it is quarantined. The opening does not search, or all
    /// callers would wait. The search has a thread of its own: a million events take half a second, and the store's
    /// thread commits for tasks.
    private func startLongTextSearchIfDue() {
        guard
            self.longTexts.compareExchange(expected: .due, desired: .underWay, ordering: .relaxed).exchanged
        else { return }
        let isStarted = StoreThread().start { [weak self] in
            guard let self else { return }
            var next = LongTextSearch.done
            do throws(BreakerStoreError) {
                try self.view { (database) throws(BreakerStoreError) in
                    try database.requireShortKeys()
                    try database.requireShortTexts()
                }
            } catch {
                if !error.isOfRefusedValue { next = .due }
            }
            // If another file was opened since, it must be searched, too: then this exchange fails.
            _ = self.longTexts.compareExchange(expected: .underWay, desired: next, ordering: .relaxed)
        }
        if !isStarted { self.longTexts.store(.due, ordering: .relaxed) }
    }

    // MARK: - Recovery

    /// Brings the file back: keeps the open connections if they work again, else opens the file again.
    ///
    /// The thread leads.
    private func recover() {
        self.publishAllCounts()
        self.publishHealth()
        self.degradedMark.findLockFile(at: self.file.lock)
        self.showLoss()
        if (try? self.tryToRecover()) == true {
            self.recovered()
        } else {
            // This try may have failed for another reason than the one before.
            self.showLoss()
            self.publishHealth()
        }
        self.lead()
    }

    /// Locks the bytes that show other processes that this worker can't use the file, or unlocks them.
    func showLoss() {
        guard !self.isForked else { return }
        self.degradedMark.update { self.read { $0.loss?.reason.code } }
    }

    /// Makes one try to use the file again; returns whether it works.
    private func tryToRecover() throws(BreakerStoreError) -> Bool {
        let loss = self.read { $0.loss?.error }
        let isFull = loss?.code == .full
        // SQLite also reports a full disk if no row id is left for a new row.
        let isSuspect =
            loss?.code == .corrupt && loss?.sqliteCode != nil
            || isFull && (try? self.writer.opened?.writer.isRowIDSpaceExhausted) == true
        // After a checkpoint SQLite writes the log from its beginning, in blocks that the log already has.
        if isFull { try? self.writer.checkpoint() }
        let isUsable = !isSuspect && self.writer.opened != nil && self.writer.isInPlace && self.warmReadConnection()
        switch isUsable ? self.writer.probeWrite(unless: { self.isClosed }) : .mustReopen {
        case .works: break
        case .notYet: return false
        case .mustReopen:
            do throws(BreakerStoreError) {
                try self.reopen(isSuspect: isSuspect)
            } catch {
                self.update { $0.openingFailed(error) }
                throw error
            }
            // This read also makes SQLite read the schema for the connection that answers calls.
            guard self.warmReadConnection() else { return false }
        }
        return try self.writer.makeUpForFailedSync()
    }

    private static let schemaPause = Duration.milliseconds(2)

    /// Opens the connection that answers calls and has SQLite read the schema for it; an opening does neither.
    ///
    /// Otherwise the first call through that connection would wait for both: a task would block a thread of the pool.
    ///
    /// - Returns: whether that connection can read the file.
    @discardableResult private func warmReadConnection() -> Bool {
        (try? self.read { (database) throws(BreakerStoreError) in try database.first("SELECT boot FROM clock") { _ in }
        })
            != nil
    }

    private func recovered() {
        guard let loss = self.update({ $0.recovered() }) else { return }
        self.showLoss()
        self.publishHealth()
        self.registerAgain()
        self.outbox.append(loss, endedAt: self.clock.host.wallTime)
        self.writeNotes()
        // First: a failure that still can't be committed counts in the fallback again (`keepAgain`).
        for circuit in self.circuits.all { circuit.resetFallback() }
        self.storeUnstored()
        self.commitReports()
    }

    // MARK: - Leaving

    /// Commits the tickets that wait, and leaves the file; the thread keeps the lead.
    private func finish() {
        repeat { self.commitRound() } while self.read { !$0.waiting.isEmpty }
        if self.writer.pendingFrames >= StoreLife.framesBeforeCheckpoint { self.checkpoint() }
        self.countingThread.stop()
        self.countingJobs.stop()
        self.apply { $0.closed() }
        // Once more, for the calls that ended since the last round. A rate that is reached only now can't trip the
        // circuit in the file, because changes are refused: processes that stay see the counts, and check it.
        self.publishAllCounts()
        self.leaveSeat()
        // Workers that stay save the remaining counts of the board.
        let isAlone = !(self.answers.lockFile?.hasOtherWorkers ?? false)
        let unsaved = self.counting.beginSave(
            on: .end, by: self.keys.currentWorker, atMost: isAlone ? .max : StoreCounts.maxAtOnce, reading: self.adopt)
        self.answers.close()
        if self.writer.leave(saving: unsaved), let unsaved { self.counting.setSaved(unsaved) }
        self.counting.closeBoard()
        self.degradedMark.leave()
        self.answers.leave()
        self.viewer.close()
    }
}
