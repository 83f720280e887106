/// What the store's thread does next.
extension StoreLife {
    enum ThreadWork {
        /// To sync the log, so that the checkpoint's own sync is short: others go on meanwhile.
        case syncLog
        /// To commit what waits: the thread leads.
        case lead
        /// To bring the file back: the thread leads.
        case recover
        /// To see whether the files are in their places, and to tell the file what it was not told yet.
        case lookAround
        /// To commit what waits, and to leave the file: the thread leads.
        case finish
        /// To sleep until it is woken, or that time has come.
        case sleep(until: Instant?)
    }

    /// How often the thread looks around.
    static let lookInterval = Duration.seconds(1)

    /// The store's thread has nothing to do: says what it does next.
    ///
    /// What waits comes before everything but the end, so that no commit waits for a look at the files.
    mutating func threadIsFree(at now: Instant) -> (ThreadWork, Actions) {
        switch self.phase {
        case .healthy: (self.nextWhileHealthy(at: now), Actions())
        case .degraded: (self.nextWhileDegraded(at: now), Actions())
        case .closing, .closed: self.nextWhileClosing(at: now)
        }
    }

    /// The thread begins a round as the leader: true if it is to copy the log first.
    mutating func checkpointBegan() -> Bool {
        guard case .synced = self.checkpoint else { return false }
        self.checkpoint = .notDue
        return true
    }

    /// Circuits that nobody uses are looked for if that was not done for so long, in microseconds; true if it is time.
    mutating func idleSweepBegan(at now: Int64, every pause: Int64) -> Bool {
        guard now.subtractingSaturating(self.lastIdleSweep) >= pause else { return false }
        self.lastIdleSweep = now
        return true
    }

    private mutating func nextWhileHealthy(at now: Instant) -> ThreadWork {
        switch self.checkpoint {
        case .notDue: break
        case .due:
            self.checkpoint = .synced
            return .syncLog
        case .synced: _ = self.threadWantsLead()
        }
        if case .thread = self.lead { return .lead }
        guard self.forgetsIdle || self.circuits.areUsed else {
            // Without a circuit there are no answers that a replaced file would make stale.
            return .sleep(until: nil)
        }
        let next = self.nextLook ?? now + Self.lookInterval
        guard next <= now else {
            self.nextLook = next
            return .sleep(until: next)
        }
        self.nextLook = now + Self.lookInterval
        return .lookAround
    }

    private mutating func nextWhileDegraded(at now: Instant) -> ThreadWork {
        guard self.backOff.isOver(at: now) else { return .sleep(until: self.backOff.next) }
        // The leader of the moment wakes the thread when it is done: no try is spent on that.
        guard self.threadWantsLead() else { return .sleep(until: nil) }
        self.backOff.begin(at: now)
        return .recover
    }

    private mutating func nextWhileClosing(at now: Instant) -> (ThreadWork, Actions) {
        if self.threadWantsLead() { return (.finish, Actions()) }
        guard case .closing = self.phase, let closeBy = self.closeBy else { return (.sleep(until: nil), Actions()) }
        guard closeBy.isOver(at: now) else { return (.sleep(until: closeBy.instant), Actions()) }
        return (.sleep(until: nil), self.closed())
    }
}
