import Synchronization

/// The work of the store's thread, which no caller's thread may do.
extension StoreCore {
    /// Runs until the last store has left and the waiting tickets are committed.
    ///
    /// Sleeps until it is first woken, and so does not disturb callers that open a store and register their circuits.
    func runThread() {
        self.thread.sleep(until: nil)
        // The caller that has woken this thread makes its first call now, maybe on the only free core.
        var firstRead: ContinuousClock.Instant? = .now + Self.schemaPause
        while true {
            switch self.happened({ $0.threadIsFree(at: .now) }) {
            case .syncLog: self.writer.syncLog()
            case .lead: self.lead()
            case .recover: self.recover()
            case .lookAround: self.lookAround()
            case .finish: return self.finish()
            case .sleep(until: let time):
                let first = self.health == .healthy ? firstRead : nil
                if let first, first <= .now {
                    self.readSchema()
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
            if self.report({ $0.checkpointBegan() }) { self.checkpoint() }
            self.commitRound()
        } while !self.report { $0.threadEndedRound() }
    }

    private func checkpoint() {
        do throws(BreakerStoreError) {
            try self.writer.checkpoint()
        } catch {
            // Another process is opening or locking the file: a later checkpoint will do.
            if error.code != .busy { self.lose(error) }
        }
    }

    // MARK: - Looking around

    /// Checks that the files are in their places, and saves notes, reports and counts that the file does not have yet.
    ///
    /// Kept answers are compared with the header of the open file. So calls alone would not notice that another file
    /// has replaced it.
    private func lookAround() {
        _ = OpenFile.sizeLimit
        if !self.sawFilesInPlace() { return self.lose(.moved(self.file.path)) }
        // If the leader hangs, callers find out at their deadlines. Posted tickets have no caller, so this thread
        // checks theirs.
        _ = self.giveUpIfOverdue()
        // A report may have been refused and kept just when the file came back.
        self.writeOutbox()
        self.registerAgain()
        self.noteHealthOnBoard()
        self.publishAllCounts()
        self.saveTalliesIfDue()
        self.lookForLongTexts()
        if self.tidyUp() { self.report { $0.lookAroundIsUnfinished(at: .now) } }
    }

    /// Searches the file for texts that are too long, once after each opening.
    ///
    /// Only searches. The error of the search then makes `readFailed` act: the next commit deletes rows with a long
    /// text, and a long key makes the file count as broken, so that the file is set aside. The opening does not search,
    /// or all callers would wait. The search has a thread of its own: a million events take half a second, and the
    /// store's thread commits for tasks.
    private func lookForLongTexts() {
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
            // Another file may have been opened meanwhile, which is to be searched, too.
            _ = self.longTexts.compareExchange(expected: .underWay, desired: next, ordering: .relaxed)
        }
        if !isStarted { self.longTexts.store(.due, ordering: .relaxed) }
    }

    // MARK: - Coming back

    /// Brings the file back: keeps the open connections if they work again, else opens the file again.
    ///
    /// The thread leads.
    private func recover() {
        self.publishAllCounts()
        self.noteHealthOnBoard()
        self.degradedMark.findLockFile(at: self.file.lock)
        self.showLoss()
        if (try? self.bringBack()) == true {
            self.recovered()
        } else {
            // This try may have failed for another reason than the last one.
            self.showLoss()
            self.noteHealthOnBoard()
        }
        self.lead()
    }

    /// Locks this worker's bytes that show other processes whether the file can't be used, or unlocks them.
    func showLoss() {
        guard !self.isForked else { return }
        self.degradedMark.follow { self.ask { $0.loss?.reason.code } }
    }

    private func bringBack() throws(BreakerStoreError) -> Bool {
        let loss = self.ask { $0.loss?.error }
        let isFull = loss?.code == .full
        // SQLite also reports a full disk when a new row would get a number above the highest number.
        let isSuspect =
            loss?.code == .corrupt && loss?.sqliteCode != nil
            || isFull && (try? self.writer.opened?.writer.hasNumbersAtTheirEnd) == true
        // After a checkpoint SQLite writes the log from its beginning, in blocks that the log already has.
        if isFull { try? self.writer.checkpoint() }
        if !isSuspect, self.writer.opened != nil, self.writer.isInPlace, self.canRead,
            let isWritable = self.writer.tryToWrite(unless: { self.isClosed })
        {
            guard isWritable else { return false }
        } else {
            do throws(BreakerStoreError) {
                try self.reopen(isSuspect: isSuspect)
            } catch {
                self.report { $0.openingFailed(error) }
                throw error
            }
            // This read also makes SQLite read the schema for the connection that answers calls.
            guard self.canRead else { return false }
        }
        return try self.writer.makeUpForFailedSync()
    }

    private static let schemaPause = Duration.milliseconds(2)

    /// Opens the connection that answers calls and has SQLite read the schema for it; an opening does neither.
    ///
    /// Otherwise the first call through that connection would wait for both: a task would block a thread of the pool.
    private func readSchema() { _ = self.canRead }

    /// Whether the connection that answers calls can read the file.
    private var canRead: Bool {
        (try? self.read { (database) throws(BreakerStoreError) in try database.first("SELECT boot FROM clock") { _ in }
        })
            != nil
    }

    private func recovered() {
        guard let loss = self.report({ $0.recovered() }) else { return }
        self.showLoss()
        self.noteHealthOnBoard()
        self.registerAgain()
        self.outbox.note(loss, endedAt: self.clock.host.wallTime)
        self.writeNotes()
        // Memory forgets first: a failure that still can't be committed counts in memory again (`keepAgain`).
        for circuit in self.circuits.all { circuit.forgetMemory() }
        self.storeUnstored()
        self.commitReports()
    }

    // MARK: - Leaving

    /// Commits the tickets that wait, and leaves the file; the thread keeps the lead.
    private func finish() {
        repeat { self.commitRound() } while self.ask { !$0.waiting.isEmpty }
        if self.writer.pendingFrames >= StoreLife.framesBeforeCheckpoint { self.checkpoint() }
        self.countingThread.stop()
        self.countingJobs.stop()
        self.happened { $0.closed() }
        self.publishAllCounts()
        self.leaveSeat()
        // Workers that stay save the remaining counts of the board.
        let isAlone = !(self.answers.lockFile?.hasOtherWorkers ?? false)
        let unsaved = self.counting.takeUnsaved(
            on: .end, by: self.keys.presentWorker, atMost: isAlone ? .max : StoreCounts.mostAtOnce, reading: self.learn)
        self.answers.close()
        if self.writer.leave(saving: unsaved) { self.counting.noteSaved(unsaved) }
        self.counting.closeBoard()
        self.degradedMark.leave()
        self.answers.leave()
        self.viewer.close()
    }
}
