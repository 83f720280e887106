/// The store's thread: does what must not run on a caller's.
extension StoreCore {
    /// Runs until the last store has left and what waited is committed.
    func runThread() {
        while true {
            switch self.happened({ $0.threadIsFree(at: .now) }) {
            case .syncLog: self.writer.syncLog()
            case .lead: self.lead()
            case .recover: self.recover()
            case .lookAround: self.lookAround()
            case .finish: return self.finish()
            case .sleep(until: let time): self.thread.sleep(until: time)
            }
        }
    }

    /// Commits until nothing waits, then gives the lead up.
    private func lead() {
        repeat {
            if self.ask({ $0.checkpointBegan() }) { self.checkpoint() }
            self.commitRound()
        } while !self.ask { $0.threadEndedRound() }
    }

    private func checkpoint() {
        do throws(BreakerStoreError) {
            try self.writer.checkpoint()
        } catch {
            // Somebody opens or locks the file just now: there is time.
            if error.code != .busy { self.lose(error) }
        }
    }

    // MARK: - Looking around

    /// Sees whether the files are in their places, and tells the file what it was not told yet.
    ///
    /// Nobody may notice by a commit that the file was replaced: kept answers are held against the old one.
    private func lookAround() {
        if !self.writer.isInPlace { return self.lose(.moved(self.file.path)) }
        // Nobody waits for some of what is in the queue, and so nobody notices if the one who leads hangs.
        _ = self.isTimeToGiveUp()
        // A report may have been refused in the very moment in which the file came back.
        self.tellOutbox()
        self.tellRefusalsIfDue()
        self.forgetIdleIfDue()
    }

    /// Looks for circuits that nobody uses, four times in the time after which they are forgotten.
    private func forgetIdleIfDue() {
        guard let idle = self.configuration.forgetIdleAfter?.saturatingMicroseconds else { return }
        let now = self.clock.now.microseconds
        guard self.ask({ $0.idleSweepBegan(at: now, every: idle / 4) }) else { return }
        self.post(until: self.writer.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.forgetIdle(since: transaction.now.adding(-idle))
        }
    }

    // MARK: - Coming back

    /// Brings the file back, as it is open if that works again, else opened anew; the thread leads.
    private func recover() {
        if let isBack = try? self.bringBack(), isBack { self.recovered() }
        self.lead()
    }

    private func bringBack() throws(BreakerStoreError) -> Bool {
        let loss = self.ask { $0.loss }
        let isFull = loss?.code == .full
        // SQLite says that the disk is full, too, when an event would get a number above the highest there is.
        let isSuspect =
            loss?.code == .corrupt && loss?.sqliteCode != nil
            || isFull && (try? self.writer.opened?.writer.hasNumbersAtTheirEnd) == true
        // A log that is copied begins anew, in the blocks that it has.
        if isFull { try? self.writer.checkpoint() }
        if !isSuspect, self.writer.opened != nil, self.writer.isInPlace, self.canRead,
            let isWritable = self.writer.canWrite(unless: { self.isClosed })
        {
            guard isWritable else { return false }
        } else {
            try self.reopen(isSuspect: isSuspect)
        }
        return try self.writer.makeUpForFailedSync()
    }

    /// Whether the connection that answers calls can be read through.
    private var canRead: Bool {
        (try? self.read { (database) throws(BreakerStoreError) in try database.first("SELECT boot FROM clock") { _ in }
        })
            != nil
    }

    private func recovered() {
        guard let loss = self.ask({ $0.recovered() }) else { return }
        self.outbox.note(loss, endedAt: self.clock.host.wallTime)
        self.tellNotes()
        // First: what the file does not take after all counts in memory again, at once.
        self.memory.forgetCircuits()
        self.tellUnstored()
        self.tellReports()
    }

    // MARK: - Leaving

    /// Commits what waits, leaves the file, and answers nobody any longer; the thread leads to the end.
    private func finish() {
        repeat { self.commitRound() } while self.ask { !$0.waiting.isEmpty }
        if self.writer.pendingFrames >= StoreLife.framesBeforeCheckpoint { self.checkpoint() }
        self.happened { $0.closed() }
        self.writer.leave(telling: self.refusals.take(at: self.clock.uptime))
        self.answers.leave()
        self.viewer.close()
    }
}
