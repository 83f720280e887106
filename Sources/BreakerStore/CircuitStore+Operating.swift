/// An operator's orders; the history keeps each with the operator's name and reason.
///
/// The synchronous forms commit on the calling thread, which waits at most for `busyTimeout`. The asynchronous forms
/// block no thread.
extension CircuitStore {
    /// Closes a circuit and forgets its failures, probes, trips and hold.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func reset(_ name: String, by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        try self.perform(.reset, on: name, by: who, reason: reason)
    }

    /// Closes a circuit and forgets its failures, probes, trips and hold.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
    ///   - reason: why.
    public func reset(_ name: String, by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.perform(.reset, on: name, by: who, reason: reason)
    }

    /// Refuses all calls of a circuit, or lets all through uncounted by the rules, until the release or the end of the
    /// hold's time.
    ///
    /// A hold survives restarts. Throws `invalidConfiguration`, `noSuchCircuit`, `closed`, `forked` or `readOnly`, or
    /// an error if the file can't be written. Commits on the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - state: `open` refuses, `closed` lets through.
    ///   - duration: for how long; nil for until the release.
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func hold(
        _ name: String,
        _ state: HoldState,
        for duration: Duration? = nil,
        by who: String? = nil,
        reason: String? = nil
    ) throws(BreakerStoreError) {
        try self.perform(.hold(state, for: duration), on: name, by: who, reason: reason)
    }

    /// Refuses all calls of a circuit, or lets all through uncounted by the rules, until the release or the end of the
    /// hold's time.
    ///
    /// A hold survives restarts. Throws `invalidConfiguration`, `noSuchCircuit`, `closed`, `forked` or `readOnly`, or
    /// an error if the file can't be written. Waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - state: `open` refuses, `closed` lets through.
    ///   - duration: for how long; nil for until the release.
    ///   - who: the operator's name.
    ///   - reason: why.
    public func hold(
        _ name: String,
        _ state: HoldState,
        for duration: Duration? = nil,
        by who: String? = nil,
        reason: String? = nil
    ) async throws(BreakerStoreError) {
        try await self.perform(.hold(state, for: duration), on: name, by: who, reason: reason)
    }

    /// Ends a hold; the circuit continues in the state beneath the hold.
    ///
    /// Without a hold nothing changes.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func release(_ name: String, by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        try self.perform(.release, on: name, by: who, reason: reason)
    }

    /// Ends a hold; the circuit continues in the state beneath the hold.
    ///
    /// Without a hold nothing changes.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
    ///   - reason: why.
    public func release(_ name: String, by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.perform(.release, on: name, by: who, reason: reason)
    }

    /// Lets the probes of an open circuit through from now on, without closing the circuit.
    ///
    /// A reset would send all traffic to a service that is just recovering. A circuit that is not open, is held, or is
    /// already due stays as it is.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
    ///   - reason: why.
    @_disfavoredOverload
    public func probe(_ name: String, by who: String? = nil, reason: String? = nil) throws(BreakerStoreError) {
        try self.perform(.probe, on: name, by: who, reason: reason)
    }

    /// Lets the probes of an open circuit through from now on, without closing the circuit.
    ///
    /// A reset would send all traffic to a service that is just recovering. A circuit that is not open, is held, or is
    /// already due stays as it is.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
    ///   - reason: why.
    public func probe(_ name: String, by who: String? = nil, reason: String? = nil) async throws(BreakerStoreError) {
        try await self.perform(.probe, on: name, by: who, reason: reason)
    }

    /// Deletes a circuit; its history stays.
    ///
    /// A live handle registers the circuit again at its next call.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Commits on
    /// the calling thread, which waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
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
    /// A live handle registers the circuit again at its next call.
    ///
    /// Throws `noSuchCircuit`, `closed`, `forked` or `readOnly`, or an error if the file can't be written. Waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - who: the operator's name.
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
            advice: "circuits() lists all circuits",
            path: path
        )
    }
}
