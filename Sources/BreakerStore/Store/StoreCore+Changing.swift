import FoundationEssentials
import Synchronization

/// Changes, as tickets in the queue.
extension StoreCore {
    /// Of a file that fails again and again the newest losses say enough.
    private static let mostUntold = 100

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
        let name = CircuitName(config.name)
        let isFirst = self.registered.withLock { registered in
            defer { registered[name] = config }
            return registered.isEmpty
        }
        // From now on there are answers that the thread has to watch over.
        if isFirst { self.thread.wake() }
        let uptime = self.clock.uptime
        do throws(BreakerStoreError) {
            try self.commit(until: deadline) { (transaction) throws(BreakerStoreError) in
                try transaction.register(config)
            }
            self.unregistered.withLock { $0[name] = nil }
        } catch {
            // Only now: the store's thread would register it a second time, over whatever others have stored since.
            self.unregistered.withLock { $0[name] = Unregistered(config: config, uptime: uptime) }
            throw error
        }
    }

    /// Whether a config of this process has not been stored yet.
    func isUnregistered(_ name: CircuitName) -> Bool { self.unregistered.withLock { $0[name] != nil } }

    /// Stores the configs that could not be stored when they were registered, unless somebody has registered a newer one
    /// meanwhile.
    func tellUnregistered() {
        let unregistered = self.unregistered.withLock { unregistered in
            defer { unregistered.removeAll() }
            return unregistered
        }
        let deadline = Deadline(after: self.configuration.busyTimeout)
        for (name, one) in unregistered {
            self.post(
                until: deadline,
                orElse: { _ in self.unregistered.withLock { if $0[name] == nil { $0[name] = one } } },
                { (transaction) throws(BreakerStoreError) in
                    try transaction.register(one.config, unlessConfiguredSince: self.clock.time(of: one.uptime))
                }
            )
        }
    }

    /// Notes the config by which a circuit is ruled: where another file takes the place of this one, the circuit is
    /// registered there as it was in force, not as this process knew it once.
    func noteInForce(_ config: CircuitBreaker.Config) {
        let name = CircuitName(config.name)
        guard !self.isUnregistered(name) else { return }
        self.registered.withLock { if $0[name] != nil { $0[name] = config } }
    }

    /// Tells the file what memory has kept; what can't be committed is kept again.
    func tellKept() {
        let deadline = Deadline(after: self.configuration.busyTimeout)
        for kept in self.memory.takeKept() {
            self.post(
                until: deadline,
                orElse: { error in
                    // What the row or the value is at fault for would fail again each time.
                    if error.isOfTheFile || error.code == .busy { self.keepAgain(kept) }
                },
                { (transaction) throws(BreakerStoreError) in
                    let telling = kept.telling.ended(at: self.clock.time(of: kept.uptime))
                    try transaction.apply(telling, to: kept.config.name, registering: kept.config)
                }
            )
        }
    }

    /// Counts a failure again, too, for memory has forgotten it when the file came back.
    private func keepAgain(_ kept: MemoryGuard.Kept) {
        self.memory.keep(kept)
        guard var report = kept.telling.failure else { return }
        let rules = Rules.inMemory(Rules(kept.config))
        self.memory.change(kept.config.name, rules: rules, at: self.clock.now) { circuit, moment in
            report.epoch = circuit.epoch
            _ = circuit.callFailed(report, at: moment)
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

    /// Notes what the history is to tell.
    func note(_ notes: [StoreNote]) { self.untold.withLock { $0 += notes } }

    /// Notes that a broken file was set aside: the new one is to tell of it.
    func noteQuarantine(_ name: String) {
        let fileName = name.split(separator: "/").last.map(String.init) ?? name
        let reason = "the file was broken; it is kept as \(fileName)"
        self.note([StoreNote(transition: Transition(kind: .quarantined, reason: reason))])
    }

    /// Notes that the file could not be used, and that it can again.
    func noteLoss(since: Date, _ error: BreakerStoreError) {
        let seconds = max(0, self.clock.host.wallTime.timeIntervalSince(since))
        let time = Duration(saturatingMicroseconds: seconds * 1_000_000).readable
        self.note([
            StoreNote(transition: Transition(kind: .degraded, reason: error.message)),
            StoreNote(transition: Transition(kind: .restored, reason: "after \(time)")),
        ])
    }

    /// Writes down what happened to the store itself; later, if it can't be committed now.
    func tellUntold() {
        let untold = self.untold.withLock { untold in
            defer { untold.removeAll() }
            return untold
        }
        if untold.isEmpty { return }
        self.post(
            until: Deadline(after: self.configuration.busyTimeout),
            orElse: { _ in self.untold.withLock { $0 = (untold + $0).suffix(Self.mostUntold) } },
            { (transaction) throws(BreakerStoreError) in
                for note in untold { try transaction.write(note.transition, of: note.circuit, by: nil) }
            }
        )
    }
}
