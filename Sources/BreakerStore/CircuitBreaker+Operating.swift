/// Reads one circuit, and carries out an operator's orders.
///
/// The synchronous forms read or commit on the calling thread; the asynchronous forms block no thread of the
/// cooperative pool.
extension CircuitBreaker {
    /// Closes the circuit and forgets its failures, probes, trips and hold; see `CircuitStore.reset(_:by:reason:)`.
    ///
    /// Throws and waits as that function does. Where the file can't be used, this function changes the circuit in this
    /// process's memory.
    /// - Parameters:
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func reset(by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try self.store.reset(self.name, by: who, reason: reason)
        } catch {
            self.commandFailed { $0.reset(at: $1, reason: reason) }
            throw error
        }
    }

    /// Closes the circuit and forgets its failures, probes, trips and hold; see `CircuitStore.reset(_:by:reason:)`.
    ///
    /// Throws and waits as that function does. Where the file can't be used, this function changes the circuit in this
    /// process's memory.
    /// - Parameters:
    ///   - who: the operator's name.
    ///   - reason: why.
    public func reset(by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try await self.store.reset(self.name, by: who, reason: reason)
        } catch {
            self.commandFailed { $0.reset(at: $1, reason: reason) }
            throw error
        }
    }

    /// Refuses all calls, or lets all through uncounted by the rules; see `CircuitStore.hold(_:_:for:by:reason:)`.
    ///
    /// Throws and waits as that function does.
    /// - Parameters:
    ///   - state: `open` refuses, `closed` lets through.
    ///   - duration: for how long; nil for until the release.
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func hold(
        _ state: HoldState, for duration: Duration? = nil, by who: String? = nil, reason: String? = nil
    ) throws(BreakerStoreError) {
        try self.store.hold(self.name, state, for: duration, by: who, reason: reason)
    }

    /// Refuses all calls, or lets all through uncounted by the rules; see `CircuitStore.hold(_:_:for:by:reason:)`.
    ///
    /// Throws and waits as that function does.
    /// - Parameters:
    ///   - state: `open` refuses, `closed` lets through.
    ///   - duration: for how long; nil for until the release.
    ///   - who: the operator's name.
    ///   - reason: why.
    public func hold(
        _ state: HoldState, for duration: Duration? = nil, by who: String? = nil, reason: String? = nil
    ) async throws(BreakerStoreError) {
        try await self.store.hold(self.name, state, for: duration, by: who, reason: reason)
    }

    /// Ends the circuit's hold; see `CircuitStore.release(_:by:reason:)`.
    ///
    /// Throws and waits as that function does. Where the file can't be used, this function changes the circuit in this
    /// process's memory.
    /// - Parameters:
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func release(by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try self.store.release(self.name, by: who, reason: reason)
        } catch {
            self.commandFailed { _ = $0.released(at: $1, reason: reason) }
            throw error
        }
    }

    /// Ends the circuit's hold; see `CircuitStore.release(_:by:reason:)`.
    ///
    /// Throws and waits as that function does. Where the file can't be used, this function changes the circuit in this
    /// process's memory.
    /// - Parameters:
    ///   - who: the operator's name.
    ///   - reason: why.
    public func release(by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        do throws(BreakerStoreError) {
            try await self.store.release(self.name, by: who, reason: reason)
        } catch {
            self.commandFailed { _ = $0.released(at: $1, reason: reason) }
            throw error
        }
    }

    /// Lets the probes through from now on, if the circuit is open; see `CircuitStore.probe(_:by:reason:)`.
    ///
    /// Throws and waits as that function does.
    /// - Parameters:
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func probe(by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        try self.store.probe(self.name, by: who, reason: reason)
    }

    /// Lets the probes through from now on, if the circuit is open; see `CircuitStore.probe(_:by:reason:)`.
    ///
    /// Throws and waits as that function does.
    /// - Parameters:
    ///   - who: the operator's name.
    ///   - reason: why.
    public func probe(by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.store.probe(self.name, by: who, reason: reason)
    }

    /// The events of the circuit, newest first; see `CircuitStore.history(of:after:limit:)`.
    ///
    /// Throws and reads as that function does.
    /// - Parameters:
    ///   - id: the event after which to continue, with the oldest later events; nil for the newest events.
    ///   - limit: how many events at most.
    @_disfavoredOverload
    public func history(
        after id: CircuitEvent.ID? = nil, limit: Int = 100
    ) throws(BreakerStoreError) -> [CircuitEvent] {
        try self.store.history(of: self.name, after: id, limit: limit)
    }

    /// The events of the circuit, newest first; see `CircuitStore.history(of:after:limit:)`.
    ///
    /// Throws and reads as that function does.
    /// - Parameters:
    ///   - id: the event after which to continue, with the oldest later events; nil for the newest events.
    ///   - limit: how many events at most.
    public func history(
        after id: CircuitEvent.ID? = nil, limit: Int = 100
    ) async throws(BreakerStoreError) -> [CircuitEvent] {
        try await self.store.history(of: self.name, after: id, limit: limit)
    }

    /// The circuit as it is now.
    ///
    /// Throws `noSuchCircuit` if the circuit was forgotten, otherwise as `CircuitStore.circuit(named:)` does. Reads on
    /// the calling thread.
    @_disfavoredOverload
    public func snapshot() throws(BreakerStoreError) -> CircuitSnapshot {
        guard let found = try self.store.circuit(named: self.name) else {
            throw .noSuchCircuit(self.name, self.store.path)
        }
        return found
    }

    /// The circuit as it is now.
    ///
    /// Throws `noSuchCircuit` if the circuit was forgotten, otherwise as `CircuitStore.circuit(named:)` does.
    public func snapshot() async throws(BreakerStoreError) -> CircuitSnapshot {
        guard let found = try await self.store.circuit(named: self.name) else {
            throw .noSuchCircuit(self.name, self.store.path)
        }
        return found
    }
}
