import Synchronization

/// Cleans up after unused circuits: in this process a little at each look-around, in the file by a sweep now and then.
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
        self.startIdleSweepIfDue()
        return areOthersDue || self.circuits.hasUnused
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

    /// How many circuits or names one query finds.
    private static let foundAtOnce = 1_000
    /// How many circuits one transaction forgets, and how many events it deletes: other processes wait meanwhile.
    private static let circuitsAtOnce = 100
    private static let eventsAtOnce = 500

    /// Starts a sweep every quarter of `forgetIdleAfter`.
    ///
    /// It has a thread of its own: to look through 100,000 circuits takes a tenth of a second, and the store's thread
    /// commits for tasks.
    private func startIdleSweepIfDue() {
        guard let pause = self.configuration.forgetIdleAfter?.saturatingMicroseconds else { return }
        let now = self.clock.now
        // Only the store's thread sets it; while a sweep goes on, the next one stays due.
        guard !self.isSweeping.load(ordering: .acquiring),
            self.report({ $0.startIdleSweepIfDue(at: now.microseconds, every: pause / 4) })
        else { return }
        self.isSweeping.store(true, ordering: .relaxed)
        let isStarted = StoreThread().start { [weak self] in
            // What can't be read or written now, the next sweep forgets.
            try? self?.forgetIdle(since: now.adding(-pause))
            self?.isSweeping.store(false, ordering: .releasing)
        }
        if !isStarted { self.isSweeping.store(false, ordering: .releasing) }
    }

    /// Forgets circuits that no process has used since `time`, and the history of circuits that are gone as long.
    ///
    /// The transactions that delete check all that the queries have found.
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
            var isMore = !found.names.isEmpty
            while isMore {
                isMore = try self.change { (transaction) throws(BreakerStoreError) in
                    try !transaction.forgetHistory(of: found.names, since: time, atMost: Self.eventsAtOnce)
                }
            }
            name = found.last
        }
    }

    private func change<Value: Sendable>(_ work: @escaping Work<Value>) throws(BreakerStoreError) -> Value {
        try self.commit(until: self.writer.deadline, work)
    }
}
