/// What an operator does; it stands in the history with who did it and why.
///
/// The synchronous forms commit on the calling thread, which waits at most for `busyTimeout`.
///
/// The asynchronous ones block no thread.
extension CircuitStore {
    /// Closes a circuit and forgets its failures, probes, trips and hold.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    @_disfavoredOverload
    public func reset(_ name: String, by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        _ = try self.perform(.reset, on: [.named(name)], by: who, reason: reason)
    }

    /// Closes a circuit and forgets its failures, probes, trips and hold.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    public func reset(_ name: String, by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.perform(.reset, on: [.named(name)], by: who, reason: reason)
    }

    /// Refuses all calls of a circuit, or lets all through uncounted, until it is released or the time is over.
    ///
    /// A hold survives restarts. Throws `invalidConfiguration`, `noSuchCircuit`, `closed`, `forked` or `readOnly`, or
    /// what keeps the file from being written. Commits on the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - state: `open` refuses, `closed` lets through.
    ///   - duration: for how long; nil for until it is released.
    ///   - who: who does it.
    ///   - reason: why.
    @_disfavoredOverload
    public func hold(
        _ name: String,
        _ state: HoldState,
        for duration: Duration? = nil,
        by who: String? = nil,
        reason: String? = nil
    ) throws(BreakerStoreError) {
        _ = try self.perform(.hold(state, for: duration), on: [.named(name)], by: who, reason: reason)
    }

    /// Refuses all calls of a circuit, or lets all through uncounted, until it is released or the time is over.
    ///
    /// A hold survives restarts. Throws `invalidConfiguration`, `noSuchCircuit`, `closed`, `forked` or `readOnly`, or
    /// what keeps the file from being written. Waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - state: `open` refuses, `closed` lets through.
    ///   - duration: for how long; nil for until it is released.
    ///   - who: who does it.
    ///   - reason: why.
    public func hold(
        _ name: String,
        _ state: HoldState,
        for duration: Duration? = nil,
        by who: String? = nil,
        reason: String? = nil
    ) async throws(BreakerStoreError) {
        try await self.perform(.hold(state, for: duration), on: [.named(name)], by: who, reason: reason)
    }

    /// Ends a hold; the circuit goes on in the state beneath.
    ///
    /// Without a hold nothing changes.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    @_disfavoredOverload
    public func release(_ name: String, by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        _ = try self.perform(.release, on: [.named(name)], by: who, reason: reason)
    }

    /// Ends a hold; the circuit goes on in the state beneath.
    ///
    /// Without a hold nothing changes.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    public func release(_ name: String, by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.perform(.release, on: [.named(name)], by: who, reason: reason)
    }

    /// Lets the probes of an open circuit through from now on, without closing the circuit.
    ///
    /// A reset sends all traffic to a service that is just recovering; this sends one probe. A circuit that is not
    /// open, or held, or whose time has come already, is left as it is.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    @_disfavoredOverload
    public func probe(_ name: String, by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        _ = try self.perform(.probe, on: [.named(name)], by: who, reason: reason)
    }

    /// Lets the probes of an open circuit through from now on, without closing the circuit.
    ///
    /// A reset sends all traffic to a service that is just recovering; this sends one probe. A circuit that is not
    /// open, or held, or whose time has come already, is left as it is.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    public func probe(_ name: String, by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.perform(.probe, on: [.named(name)], by: who, reason: reason)
    }

    /// Deletes a circuit; its history stays.
    ///
    /// A live handle registers it anew at its next call.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    @_disfavoredOverload
    public func forget(_ name: String, by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        try self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            guard try transaction.forget(name, by: who, reason: reason) else {
                throw .noSuchCircuit(name, transaction.path)
            }
        }
        self.backend.core?.circuits.drop(forgotten: [name])
    }

    /// Deletes a circuit; its history stays.
    ///
    /// A live handle registers it anew at its next call.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or what keeps the file from being written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: who does it.
    ///   - reason: why.
    public func forget(_ name: String, by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            guard try transaction.forget(name, by: who, reason: reason) else {
                throw .noSuchCircuit(name, transaction.path)
            }
        }
        self.backend.core?.circuits.drop(forgotten: [name])
    }
}

extension BreakerStoreError {
    static func noSuchCircuit(_ name: String, _ path: String) -> BreakerStoreError {
        BreakerStoreError(
            code: .noSuchCircuit,
            message: "there is no circuit \(name.quoted)",
            advice: "circuits() lists those there are",
            path: path
        )
    }
}
