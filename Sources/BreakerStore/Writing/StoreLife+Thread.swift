/// Decides what the store's thread does next.
extension StoreLife {
    enum ThreadWork {
        /// Sync the log before a checkpoint, so that the checkpoint's own sync under the write lock is short.
        case syncLog
        /// Commit the tickets that wait; the thread leads.
        case lead
        /// Bring the file back; the thread leads.
        case recover
        /// Make a look-around: `StoreCore.lookAround` has the work.
        case lookAround
        /// Commit the tickets that wait, and leave the file; the thread leads.
        case finish
        /// Sleep until the thread is woken, or until the given time.
        case sleep(until: Instant?)
    }

    /// How often the thread looks around.
    static let lookAroundInterval = Duration.seconds(1)

    /// The store's thread has nothing to do: returns its next work.
    ///
    /// Tickets come first, so that no commit waits for a look-around.
    mutating func threadIsFree(at now: Instant) -> (ThreadWork, Actions) {
        switch self.phase {
        case .healthy: (self.nextWhileHealthy(at: now), Actions())
        case .degraded: (self.nextWhileDegraded(at: now), Actions())
        case .closing, .closed: self.nextWhileClosing(at: now)
        }
    }

    /// The thread leads and begins a round; true if the thread must copy the log first.
    ///
    /// If a checkpoint falls due while the thread commits, the thread copies the log without a sync beforehand: endless
    /// commits must not let the log grow.
    mutating func checkpointBegan() -> Bool {
        if case .notDue = self.checkpoint { return false }
        self.checkpoint = .notDue
        return true
    }

    /// A link has begun: it reads the file and uses no circuit, and must not go on with a file that was replaced.
    mutating func linkBegan() -> Actions {
        self.looksAroundAlways = true
        return Actions(wakesThread: true)
    }

    /// Handles were made.
    ///
    /// The first handles wake the thread: from then on the thread checks that the files are in their places. The thread
    /// is not woken earlier, as it would hold locks that the caller needs to register the circuits and to read them.
    mutating func handlesWereMade() -> Actions {
        self.usesCircuits = true
        return Actions(wakesThread: self.nextLookAround == nil)
    }

    /// Circuits without handles were dropped.
    mutating func circuitsWereDropped(areOthersLeft: Bool) { self.usesCircuits = areOthersLeft }

    /// The last look-around has left work: the next look-around comes as soon as no ticket waits.
    mutating func lookAroundIsUnfinished(at now: Instant) { self.nextLookAround = now }

    /// Begins a new sweep for unused circuits if the last sweep began at least `pause` microseconds ago; true if so.
    mutating func startIdleSweepIfDue(at now: Int64, every pause: Int64) -> Bool {
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
        let isLookDue = self.nextLookAround.map { $0 <= now } ?? false
        guard self.looksAroundAlways || self.usesCircuits || isLookDue else {
            // Without a circuit there are no kept answers that a replaced file would make stale.
            self.nextLookAround = nil
            return .sleep(until: nil)
        }
        let next = self.nextLookAround ?? now + Self.lookAroundInterval
        guard next <= now else {
            self.nextLookAround = next
            return .sleep(until: next)
        }
        self.nextLookAround = now + Self.lookAroundInterval
        return .lookAround
    }

    private mutating func nextWhileDegraded(at now: Instant) -> ThreadWork {
        guard self.backOff.isOver(at: now) else { return .sleep(until: self.backOff.next) }
        // The present leader wakes the thread when it hands over the lead. Until then no try counts for the back-off.
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
