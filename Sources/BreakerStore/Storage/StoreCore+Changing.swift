import FoundationEssentials
import Synchronization

/// Changes, as tickets in the queue.
extension StoreCore {
    typealias Work<Value> = @Sendable (Transaction) throws(BreakerStoreError) -> Value

    /// Commits on the calling thread.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        for asker: Asker? = nil,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        return try self.queue.submit(Ticket(deadline: deadline, asker: asker, unclaimed: undo, work), to: self)
    }

    /// Commits on the store's thread.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        for asker: Asker? = nil,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping Work<Value>
    ) async throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        return try await self.queue.submit(Ticket(deadline: deadline, asker: asker, unclaimed: undo, work), to: self)
    }

    /// A call in flight at a fork ends in the child too, where the parent's connections and locks must not be touched.
    func requireOwnProcess() throws(BreakerStoreError) {
        if self.isForked { throw .forked(self.file.path) }
    }

    /// Commits on the store's thread; nobody waits.
    func post(
        until deadline: Deadline,
        orElse giveUp: (@Sendable (BreakerStoreError) -> Void)? = nil,
        _ work: @escaping Work<Void>
    ) {
        guard !self.isForked else { return }
        self.queue.post(Ticket(deadline: deadline, orElse: giveUp, work), to: self)
    }

    func register(_ config: CircuitBreaker.Config, until deadline: Deadline) throws(BreakerStoreError) {
        let isFirst = self.registered.withLock { registered in
            defer { registered[CircuitName(config.name)] = config }
            return registered.isEmpty
        }
        // From now on there are answers that the thread has to watch over.
        if isFirst { self.thread.wake() }
        try self.commit(until: deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.register(config)
        }
    }

    /// Tells the file what memory has kept; what can't be committed is kept again.
    func tellKept() {
        let deadline = Deadline(after: self.configuration.busyTimeout)
        for kept in self.memory.takeKept() {
            self.post(
                until: deadline,
                orElse: { error in
                    // What the row or the value is at fault for would fail again each time.
                    if error.isOfTheFile || error.code == .busy { self.memory.keep(kept) }
                },
                { (transaction) throws(BreakerStoreError) in
                    try transaction.apply(kept.telling, to: kept.config.name, registering: kept.config)
                }
            )
        }
    }

    /// Tells the file how often circuits have refused, at most every few seconds.
    func tellRefusalsIfDue() {
        let uptime = self.clock.uptime
        guard self.refusals.isDue(at: uptime) else { return }
        let taken = self.refusals.take(at: uptime)
        guard !taken.isEmpty else { return }
        self.post(
            until: Deadline(after: self.configuration.busyTimeout),
            orElse: { _ in self.refusals.putBack(taken) },
            { (transaction) throws(BreakerStoreError) in try transaction.database.add(refusals: taken) }
        )
    }

    /// Writes down in a new file that it took the place of a broken one.
    func tellOfQuarantine() {
        let quarantined = self.quarantined.withLock { name in
            defer { name = nil }
            return name
        }
        guard let name = quarantined else { return }
        let fileName = name.split(separator: "/").last.map(String.init) ?? name
        self.post(until: Deadline(after: Opening.patience)) { (transaction) throws(BreakerStoreError) in
            let reason = "the file was broken; it is kept as \(fileName)"
            try transaction.write(Transition(kind: .quarantined, reason: reason), of: nil, by: nil)
        }
    }

    /// Writes down that the file could not be used, and that it can again.
    func tellOfLoss(since: Date, _ error: BreakerStoreError) {
        let seconds = max(0, self.clock.host.wallTime.timeIntervalSince(since))
        let time = Duration(saturatingMicroseconds: seconds * 1_000_000).readable
        self.post(until: Deadline(after: self.configuration.busyTimeout)) { (transaction) throws(BreakerStoreError) in
            try transaction.write(Transition(kind: .degraded, reason: error.message), of: nil, by: nil)
            try transaction.write(Transition(kind: .restored, reason: "after \(time)"), of: nil, by: nil)
        }
    }
}
