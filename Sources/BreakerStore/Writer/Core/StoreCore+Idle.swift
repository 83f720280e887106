import Synchronization

/// Cleans up idle circuits: in this process a few at each maintenance pass, in the file by an occasional sweep.
extension StoreCore {
    /// Drops some idle circuits of this process, and starts a sweep of the file if it is due.
    ///
    /// - Returns: whether more idle circuits are left for the next pass.
    func cleanUpIdleCircuits() -> Bool {
        let areOthersDue = self.circuits.dropIdle(at: self.clock.uptime)
        // `isEmpty` is read under the state machine's lock: a thread that makes a handle after this read calls
        // `handlesWereMade` later, so `areOthersLeft: false` is never applied after that.
        self.update { $0.circuitsWereDropped(areOthersLeft: !self.circuits.isEmpty) }
        self.unregisterUnused()
        self.startIdleSweepIfDue()
        return areOthersDue || self.circuits.hasUnused
    }

    /// Removes this worker's registrations of circuits that it no longer uses.
    private func unregisterUnused() {
        let unused = self.circuits.drainUnused()
        guard !unused.isEmpty else { return }
        self.post(
            until: self.writer.deadline,
            orElse: { error in
                guard error.concernsFile || error.code == .busy else { return }
                self.circuits.putBack(unused)
                self.requestMaintenance()
            },
            { (transaction) throws(BreakerStoreError) in
                // A new handle may use the circuit by now: it is added to `circuits` before it is registered.
                for circuit in unused where self.circuits[circuit.name] == nil {
                    try transaction.unregister(circuit.name.text, unusedSince: self.clock.time(of: circuit.since))
                }
            }
        )
    }

    // MARK: - The file

    /// How many circuits or names one query finds at most.
    private static let foundAtOnce = 1_000
    /// How many circuits one transaction forgets, and how many events it deletes: other writers wait that long.
    private static let circuitsAtOnce = 100
    private static let eventsAtOnce = 500

    /// Starts a sweep of the file every quarter of `forgetIdleAfter`.
    ///
    /// The sweep has a thread of its own: a scan of 100,000 circuits takes a tenth of a second, and the store's thread
    /// commits for tasks.
    private func startIdleSweepIfDue() {
        guard let idleLimit = self.configuration.forgetIdleAfter?.saturatingMicroseconds else { return }
        let now = self.clock.now
        // Only the store's thread sets `isSweeping`. During a sweep the next one stays due.
        guard !self.isSweeping.load(ordering: .acquiring),
            self.update({ $0.claimIdleSweep(at: now.microseconds, every: idleLimit / 4) })
        else { return }
        self.isSweeping.store(true, ordering: .relaxed)
        let isStarted = StoreThread().start { [weak self] in
            // After an error the next sweep forgets the rest.
            try? self?.forgetIdle(since: now.adding(-idleLimit))
            self?.isSweeping.store(false, ordering: .releasing)
        }
        if !isStarted { self.isSweeping.store(false, ordering: .releasing) }
    }

    /// Forgets circuits that no process has used since `time`, and the history of circuits forgotten before `time`.
    ///
    /// The queries run outside the transactions, so each transaction checks again what the queries have found.
    private func forgetIdle(since time: StoreTime) throws(BreakerStoreError) {
        try self.change { (transaction) throws(BreakerStoreError) in try transaction.removeDeadWorkers() }
        var row: Int64 = 0
        while true {
            let last = row
            let idle = try self.view { (database) throws(BreakerStoreError) in
                try database.idleCircuits(after: last, since: time, atMost: Self.foundAtOnce)
            }
            guard let next = idle.last else { break }
            for start in stride(from: 0, to: idle.count, by: Self.circuitsAtOnce) {
                let part = Array(idle[start..<min(start + Self.circuitsAtOnce, idle.count)])
                try self.change { (transaction) throws(BreakerStoreError) in
                    try transaction.forgetIdle(part, since: time)
                }
            }
            row = next
        }
        var name = ""
        while true {
            let last = name
            let found = try self.view { (database) throws(BreakerStoreError) in
                try database.namesLeftBehind(after: last, since: time, among: Self.foundAtOnce)
            }
            guard let found else { return }
            var hasMore = !found.names.isEmpty
            while hasMore {
                hasMore = try self.change { (transaction) throws(BreakerStoreError) in
                    try transaction.forgetHistory(of: found.names, since: time, atMost: Self.eventsAtOnce)
                }
            }
            name = found.last
        }
    }

    private func change<Value: Sendable>(_ work: @escaping Work<Value>) throws(BreakerStoreError) -> Value {
        try self.commit(until: self.writer.deadline, work)
    }
}
