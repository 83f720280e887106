import Synchronization

/// How far the store's thread has come in its sweep through the file for circuits that no process uses.
enum IdleSweep: Equatable {
    /// Becomes `circuits` when the next sweep is due.
    case over
    /// Becomes `history` after the last row.
    case circuits(after: Int64)
    /// Becomes `over` after the last name.
    case history(after: String)

    /// How much the thread reads or changes at once: work for a few milliseconds.
    static let rowsAtOnce = 100
    static let namesAtOnce = 200
    static let eventsAtOnce = 500
}

/// Cleans up after unused circuits: a little at each look-around, however many circuits there are.
extension StoreCore {
    /// Has the store's thread look around now.
    func lookAroundSoon() {
        self.report { $0.lookAroundIsUnfinished(at: .now) }
        self.thread.wake()
    }

    /// Does a part of the work that is due; returns whether more is left.
    func tidyUp() -> Bool {
        let areOthersDue = self.circuits.dropIdle(at: self.clock.uptime)
        // `isEmpty` is read under the life's lock: a thread that makes a handle after this read calls `handlesWereMade`
        // later, so this `false` can't overwrite its `true`.
        self.report { $0.circuitsWereDropped(areOthersLeft: !self.circuits.isEmpty) }
        self.unregisterUnused()
        return self.forgetIdle() || areOthersDue || self.circuits.hasUnused
    }

    /// Writes to the file which circuits this worker no longer uses.
    private func unregisterUnused() {
        let unused = self.circuits.takeUnused()
        guard !unused.isEmpty else { return }
        self.post(
            until: self.writer.deadline,
            orElse: { error in
                guard error.isOfTheFile || error.code == .busy else { return }
                self.circuits.putBack(unused)
                self.lookAroundSoon()
            },
            { (transaction) throws(BreakerStoreError) in
                // A handle may have been made meanwhile: a circuit is among `circuits` before it is registered.
                for one in unused where self.circuits[one.name] == nil {
                    try transaction.unregister(one.name.text, unusedSince: self.clock.time(of: one.since))
                }
            }
        )
    }

    // MARK: - The file

    /// Forgets circuits that no process has used for `forgetIdleAfter`, and the history of circuits gone as long.
    ///
    /// A sweep begins every quarter of `forgetIdleAfter`. The connection for long reads reads some rows at a time, so
    /// that no commit waits. The transaction that forgets the circuits checks them again.
    private func forgetIdle() -> Bool {
        guard let pause = self.configuration.forgetIdleAfter?.saturatingMicroseconds else { return false }
        let now = self.clock.now
        let since = now.adding(-pause)
        var place = self.idleSweep.withLock { $0 }
        if place == .over, self.report({ $0.idleSweepBegan(at: now.microseconds, every: pause / 4) }) {
            place = .circuits(after: 0)
            self.change { (transaction) throws(BreakerStoreError) in try transaction.removeDeadWorkers() }
        }
        do throws(BreakerStoreError) {
            place = try self.sweep(on: place, since: since)
        } catch {
            // The next sweep reads what can't be read now.
            place = .over
        }
        self.idleSweep.withLock { $0 = place }
        return place != .over
    }

    /// Does the next part of the sweep; returns where to go on.
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

    /// Commits a change of the sweep; if the commit fails, the next sweep tries again.
    private func change(_ work: @escaping Work<Void>) { self.post(until: self.writer.deadline, work) }
}
