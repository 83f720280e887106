/// Tidies up after circuits that nobody uses: a little at each look around, however many there are.
extension StoreCore {
    /// Has the store's thread look around now.
    func lookSoon() {
        self.tell { $0.lookIsUnfinished(at: .now) }
        self.thread.wake()
    }

    /// Does some of what is due; returns whether more is.
    func tidyUp() -> Bool {
        let areOthersDue = self.dropIdleCircuits()
        self.tellUnused()
        return self.forgetIdle() || areOthersDue || self.idle.hasUnused
    }

    // MARK: - This process

    /// Lets go of circuits of this process whose handles are gone for a minute.
    private func dropIdleCircuits() -> Bool {
        let uptime = self.clock.uptime
        var areOthersDue = false
        var dropped: [CircuitTable.Idle] = []
        for table in self.idle.tables {
            let isOneDue = table.dropIdle(
                at: uptime,
                if: { $0.counts.isSettled && !self.isUnregistered(CircuitName($0.name)) },
                { idle in dropped += idle.filter { self.drop($0.name) } }
            )
            areOthersDue = areOthersDue || isOneDue
            if table.isOver { self.idle.remove(table) }
        }
        for one in dropped {
            // Another store of this process may have begun to use the circuit in this moment.
            if self.counting.known(one.name) != nil {
                for config in self.idle.tables.compactMap({ $0.config(of: one.name) }) { self.noteUse(of: config) }
            } else {
                self.idle.add(one)
            }
        }
        return areOthersDue
    }

    /// Keeps nothing of a circuit that a store has dropped; false if another store of this process uses the circuit.
    func drop(_ name: CircuitName) -> Bool {
        guard self.counting.letGo(of: name) else { return false }
        self.tell { $0.dropped(name) }
        return true
    }

    /// Tells the file which circuits this worker uses no longer.
    private func tellUnused() {
        let unused = self.idle.takeUnused()
        guard !unused.isEmpty else { return }
        self.post(
            until: self.writer.deadline,
            orElse: { error in
                guard error.isOfTheFile || error.code == .busy else { return }
                self.idle.putBack(unused)
                self.lookSoon()
            },
            { (transaction) throws(BreakerStoreError) in
                // A handle may have been made meanwhile: the circuit is in force again before it is registered.
                for one in unused where self.ask({ $0.circuits.inForce[one.name] == nil }) {
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
        if self.idle.sweep == .over, self.tell({ $0.idleSweepBegan(at: now.microseconds, every: pause / 4) }) {
            self.idle.sweep = .circuits(after: 0)
            self.change { (transaction) throws(BreakerStoreError) in try transaction.removeDeadWorkers() }
        }
        do throws(BreakerStoreError) {
            self.idle.sweep = try self.sweep(on: self.idle.sweep, since: since)
        } catch {
            // What can't be read now is read in the next sweep.
            self.idle.sweep = .over
        }
        return self.idle.sweep != .over
    }

    /// The next part of the sweep; returns where to go on.
    private func sweep(on place: IdleCircuits.Sweep, since: StoreTime) throws(BreakerStoreError) -> IdleCircuits.Sweep {
        switch place {
        case .over:
            return .over
        case .circuits(after: let row):
            let found = try self.view { (database) throws(BreakerStoreError) in
                try database.idleCircuits(after: row, since: since, among: IdleCircuits.rowsAtOnce)
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
                try database.namesLeftBehind(after: name, since: since, among: IdleCircuits.namesAtOnce)
            }
            guard let found else { return .over }
            if !found.names.isEmpty {
                self.change { (transaction) throws(BreakerStoreError) in
                    try transaction.forgetHistory(
                        of: found.names, since: since, atMost: IdleCircuits.eventsAtOnce)
                }
            }
            return .history(after: found.last)
        }
    }

    /// Changes the file if that can be done now; the next sweep does what was not done.
    private func change(_ work: @escaping Work<Void>) { self.post(until: self.writer.deadline, work) }
}
