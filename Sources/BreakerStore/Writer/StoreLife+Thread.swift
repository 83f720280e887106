/// Decides what the store's thread does next.
extension StoreLife {
    enum ThreadWork {
        /// Sync the log before a checkpoint, so that the checkpoint's own sync under the write lock is short.
        case syncLog
        /// Commit the tickets that wait; the thread leads.
        case lead
        /// Bring the file back; the thread leads.
        case recover
        /// Run a maintenance pass: `StoreCore.runMaintenance`.
        case maintenance
        /// Commit the tickets that wait, and leave the file; the thread leads.
        case finish
        /// Sleep until the thread is woken, or until the given time.
        case sleep(until: Instant?)
    }

    /// How often a maintenance pass runs.
    static let maintenanceInterval = Duration.seconds(1)

    /// The store's thread has finished its work: returns its next work.
    ///
    /// Tickets come first, so that no commit waits for a maintenance pass.
    mutating func nextThreadWork(at now: Instant) -> (ThreadWork, Actions) {
        switch self.phase {
        case .healthy: (self.nextWhileHealthy(at: now), Actions())
        case .degraded: (self.nextWhileDegraded(at: now), Actions())
        case .closing, .closed: self.nextWhileClosing(at: now)
        }
    }

    /// The thread leads and begins a round: clears a checkpoint that is due, and returns whether there was one.
    ///
    /// The caller then copies the log. If a checkpoint falls due while the thread commits, the log is copied without a
    /// sync beforehand: endless commits must not let the log grow.
    mutating func claimDueCheckpoint() -> Bool {
        if case .notDue = self.checkpoint { return false }
        self.checkpoint = .notDue
        return true
    }

    /// A link has started: from now on maintenance passes run even while no circuit is used.
    ///
    /// The link reads the file and uses no circuit. Without the passes it would go on reading a file that was replaced.
    mutating func linkBegan() -> Actions {
        self.maintainsAlways = true
        return Actions(wakesThread: true)
    }

    /// Handles were made.
    ///
    /// The first handles wake the thread: from then on it checks that the files are in their places. It is not woken
    /// earlier, because it would hold locks that the caller needs to register the circuits and to read them.
    mutating func handlesWereMade() -> Actions {
        self.usesCircuits = true
        return Actions(wakesThread: self.nextMaintenance == nil)
    }

    /// Circuits without handles were dropped.
    mutating func circuitsWereDropped(areOthersLeft: Bool) { self.usesCircuits = areOthersLeft }

    /// Makes the next maintenance pass due now: it runs as soon as no ticket waits.
    mutating func setMaintenanceDue(at now: Instant) { self.nextMaintenance = now }

    /// If the last sweep for idle circuits began `pause` microseconds ago, records the start of the next; true if so.
    mutating func claimIdleSweep(at now: Int64, every pause: Int64) -> Bool {
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
        case .synced:
            // If another thread leads, this only asks for the lead: the checkpoint waits until the lead is handed over.
            self.acquireLeadForThread()
        }
        if case .thread = self.lead { return .lead }
        let isMaintenanceDue = self.nextMaintenance.map { $0 <= now } ?? false
        guard self.maintainsAlways || self.usesCircuits || isMaintenanceDue else {
            // Without a circuit there are no cached decisions that a replaced file would make stale.
            self.nextMaintenance = nil
            return .sleep(until: nil)
        }
        let next = self.nextMaintenance ?? now + Self.maintenanceInterval
        guard next <= now else {
            self.nextMaintenance = next
            return .sleep(until: next)
        }
        self.nextMaintenance = now + Self.maintenanceInterval
        return .maintenance
    }

    private mutating func nextWhileDegraded(at now: Instant) -> ThreadWork {
        guard self.backOff.isOver(at: now) else { return .sleep(until: self.backOff.next) }
        // The current leader wakes the thread when it hands over the lead. Until then no try counts for the back-off.
        guard self.acquireLeadForThread() else { return .sleep(until: nil) }
        self.backOff.recordTry(at: now)
        return .recover
    }

    private mutating func nextWhileClosing(at now: Instant) -> (ThreadWork, Actions) {
        if self.acquireLeadForThread() { return (.finish, Actions()) }
        guard case .closing = self.phase, let closeBy = self.closeBy else { return (.sleep(until: nil), Actions()) }
        guard closeBy.isOver(at: now) else { return (.sleep(until: closeBy.instant), Actions()) }
        return (.sleep(until: nil), self.closed())
    }
}
