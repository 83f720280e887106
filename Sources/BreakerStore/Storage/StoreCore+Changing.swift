import Synchronization

/// Changes, as tickets in the queue.
extension StoreCore {
    typealias Work<Value> = @Sendable (Transaction) throws(BreakerStoreError) -> Value

    /// Commits on the calling thread.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        for asker: Asker? = nil,
        _ work: @escaping Work<Value>
    ) throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        return try self.queue.submit(Ticket(deadline: deadline, asker: asker, work), to: self)
    }

    /// Commits on the store's thread.
    func commit<Value: Sendable>(
        until deadline: Deadline,
        for asker: Asker? = nil,
        _ work: @escaping Work<Value>
    ) async throws(BreakerStoreError) -> Value {
        try self.requireOwnProcess()
        return try await self.queue.submit(Ticket(deadline: deadline, asker: asker, work), to: self)
    }

    /// A call in flight at a fork ends in the child too, where the parent's connections and locks must not be touched.
    func requireOwnProcess() throws(BreakerStoreError) {
        if self.isForked { throw .forked(self.file.path) }
    }

    /// Commits on the store's thread; nobody waits.
    func post(until deadline: Deadline, _ work: @escaping Work<Void>) {
        guard !self.isForked else { return }
        self.queue.post(Ticket(deadline: deadline, work), to: self)
    }

    func register(_ config: CircuitBreaker.Config, until deadline: Deadline) throws(BreakerStoreError) {
        self.registered.withLock { $0[CircuitName(config.name)] = config }
        try self.commit(until: deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.register(config)
        }
    }
}
