import Synchronization

/// Where the store's thread stands in its look through the file for circuits that nobody uses.
enum IdleSweep: Equatable {
    /// To `circuits`, when the next sweep is due.
    case over
    /// To `history` after the last row.
    case circuits(after: Int64)
    /// To `over` after the last name.
    case history(after: String)

    /// How much is read or changed at once: a few milliseconds' work.
    static let rowsAtOnce = 100
    static let namesAtOnce = 200
    static let eventsAtOnce = 500
}

/// Tidies up after circuits that nobody uses: a little at each look around, however many there are.
extension StoreCore {
    /// Has the store's thread look around now.
    func lookSoon() {
        self.tell { $0.lookIsUnfinished(at: .now) }
        self.thread.wake()
    }

    /// Does some of what is due; returns whether more is.
    func tidyUp() -> Bool {
        let areOthersDue = self.circuits.dropIdle(at: self.clock.uptime)
        // Asked under the life's lock: a thread that makes a first handle in this moment tells the life afterwards.
        self.tell { $0.circuitsWereDropped(areOthersLeft: !self.circuits.isEmpty) }
        self.tellUnused()
        return self.forgetIdle() || areOthersDue || self.circuits.hasUnused
    }

    /// Tells the file which circuits this worker uses no longer.
    private func tellUnused() {
        let unused = self.circuits.takeUnused()
        guard !unused.isEmpty else { return }
        self.post(
            until: self.writer.deadline,
            orElse: { error in
                guard error.isOfTheFile || error.code == .busy else { return }
                self.circuits.putBack(unused)
                self.lookSoon()
            },
            { (transaction) throws(BreakerStoreError) in
                // A handle may have been made meanwhile: the circuit is used again before it is registered.
                for one in unused where self.circuits[one.name] == nil {
                    try transaction.unregister(one.name.text, unusedSince: self.clock.time(of: one.since))
                }
            }
        )
    }

    // MARK: - The file

    /// Forgets circuits that no process has used for `forgetIdleAfter`, and the history of those that are gone as long.
    ///
    /// Begins anew four times within that time. Rows are read by the connection for long reads, some at a time, so that
    /// no commit waits; the transaction that forgets them looks again.
    private func forgetIdle() -> Bool {
        guard let pause = self.configuration.forgetIdleAfter?.saturatingMicroseconds else { return false }
        let now = self.clock.now
        let since = now.adding(-pause)
        var place = self.idleSweep.withLock { $0 }
        if place == .over, self.tell({ $0.idleSweepBegan(at: now.microseconds, every: pause / 4) }) {
            place = .circuits(after: 0)
            self.change { (transaction) throws(BreakerStoreError) in try transaction.removeDeadWorkers() }
        }
        do throws(BreakerStoreError) {
            place = try self.sweep(on: place, since: since)
        } catch {
            // What can't be read now is read in the next sweep.
            place = .over
        }
        self.idleSweep.withLock { $0 = place }
        return place != .over
    }

    /// The next part of the sweep; returns where to go on.
    private func sweep(on place: IdleSweep, since: StoreTime) throws(BreakerStoreError) -> IdleSweep {
        switch place {
        case .over:
            return .over
        case .circuits(after: let row):
            let found = try self.view { (database) throws(BreakerStoreError) in
                try database.idleCircuits(after: row, since: since, among: IdleSweep.rowsAtOnce)
            }
            guard let found else { return .history(after: "") }
            if !found.idle.isEmpty {
                self.change { (transaction) throws(BreakerStoreError) in
                    try transaction.forgetIdle(found.idle, since: since)
                }
            }
            return .circuits(after: found.last)
        case .history(after: let name):
            let found = try self.view { (database) throws(BreakerStoreError) in
                try database.namesLeftBehind(after: name, since: since, among: IdleSweep.namesAtOnce)
            }
            guard let found else { return .over }
            if !found.names.isEmpty {
                self.change { (transaction) throws(BreakerStoreError) in
                    try transaction.forgetHistory(
                        of: found.names, since: since, atMost: IdleSweep.eventsAtOnce)
                }
            }
            return .history(after: found.last)
        }
    }

    /// Changes the file if that can be done now; the next sweep does what was not done.
    private func change(_ work: @escaping Work<Void>) { self.post(until: self.writer.deadline, work) }
}
