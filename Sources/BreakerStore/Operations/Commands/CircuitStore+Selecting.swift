/// Applies an operator's action to circuits.
extension CircuitStore {
    /// Begins an action on all selected circuits that exist now; `BatchedCommand.next` changes them.
    ///
    /// The command leaves out a circuit that needs no change, such as the release of a circuit that is not held. It
    /// also leaves out a circuit that a pattern found and whose name is not UTF-8. A row that can't be read is repaired
    /// first, as for a call. Throws `noSuchCircuit` for a name that must exist, else as `reset(_:by:reason:)` does.
    ///
    /// - Parameters:
    ///   - action: the action.
    ///   - selection: the circuits.
    ///   - who: the operator.
    ///   - reason: why.
    ///   - check: called in each transaction for each circuit that is held; if it returns false, `inUse` is thrown. If
    ///     nil, the action ends all holds.
    package func command(
        _ action: OperatorAction,
        on selection: [CircuitSelector],
        by who: String? = nil,
        reason: String? = nil,
        mayEndHold check: OperatorAction.HoldCheck? = nil
    ) throws(BreakerStoreError) -> BatchedCommand {
        try action.validate()
        let person = who.map { OperatorName.ofPerson($0) }
        return try BatchedCommand(on: selection, in: self) { (circuit, transaction) throws(BreakerStoreError) in
            if let check { try transaction.requireEndable(circuit.name, check) }
            return try transaction.perform(action, on: circuit, by: person, reason: reason)
        }
    }

    /// Begins to delete all selected circuits that exist now; their history stays.
    ///
    /// A transaction throws `inUse` if a living worker has registered one of its circuits. Throws `noSuchCircuit` for a
    /// name that must exist, else as `forget(_:by:reason:)` does.
    ///
    /// - Parameters:
    ///   - selection: the circuits.
    ///   - isForced: whether to delete circuits in use, too.
    ///   - who: the operator.
    ///   - reason: why.
    package func commandToForget(
        _ selection: [CircuitSelector],
        evenIfInUse isForced: Bool,
        by who: String? = nil,
        reason: String? = nil
    ) throws(BreakerStoreError) -> BatchedCommand {
        try BatchedCommand(on: selection, in: self) { (circuit, transaction) throws(BreakerStoreError) in
            try transaction.forget(circuit, evenIfInUse: isForced, by: who, reason: reason)
        }
    }

    /// Applies an action to one circuit, which must exist.
    ///
    /// Commits on the calling thread, and waits at most `busyTimeout`.
    @_disfavoredOverload
    func perform(
        _ action: OperatorAction, on name: String, by who: String?, reason: String?
    ) throws(BreakerStoreError) {
        try action.validate()
        try self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.perform(action, on: name, by: who, reason: reason)
        }
    }

    /// Does the same without blocking a thread.
    func perform(
        _ action: OperatorAction, on name: String, by who: String?, reason: String?
    ) async throws(BreakerStoreError) {
        try action.validate()
        try await self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.perform(action, on: name, by: who, reason: reason)
        }
    }
}

extension OperatorAction {
    fileprivate func validate() throws(BreakerStoreError) {
        if case .hold(_, let duration?) = self { try Validation.duration(duration, "duration") }
    }
}

extension Transaction {
    /// Applies an action to the circuit of this name, which must exist.
    fileprivate func perform(
        _ action: OperatorAction, on name: String, by who: String?, reason: String?
    ) throws(BreakerStoreError) {
        let selected = try self.database.select([.named(name)])
        if let missing = selected.missing.first { throw .noSuchCircuit(missing, self.path) }
        for circuit in selected.circuits {
            _ = try self.perform(
                action, on: circuit, by: who.map { OperatorName.ofPerson($0) }, reason: reason)
        }
    }

    /// Applies an action to a circuit; nil if it needed no change.
    fileprivate func perform(
        _ action: OperatorAction, on circuit: Database.Selected.Circuit, by who: String?, reason: String?
    ) throws(BreakerStoreError) -> BatchedCommand.Made? {
        let name = circuit.name
        let made = try self.change(name, by: who) { circuit, moment, _ -> BatchedCommand.Made? in
            let from = circuit.word(at: moment.now)
            guard circuit.apply(action, at: moment.now, by: who, reason: reason) else { return nil }
            let change = StateChange(name: name, from: from, to: circuit.word(at: moment.now))
            return BatchedCommand.Made(change: change, holdEnd: circuit.hold?.until)
        }
        // The circuit was forgotten after it was found. Or its name is not UTF-8 and was found by its shown form: no
        // statement can search for the real name.
        if made == nil, circuit.mustBeThere { throw .noSuchCircuit(name, self.path) }
        guard let made, let made else { return nil }
        try self.record(action.command(by: who, reason: reason), of: name)
        return made
    }

    /// Throws if the circuit has a hold that this operator may not end.
    fileprivate func requireEndable(_ name: String, _ check: OperatorAction.HoldCheck) throws(BreakerStoreError) {
        guard let hold = try self.circuit(name)?.hold(at: self.now), !check(name, hold.by) else { return }
        throw BreakerStoreError(
            code: .inUse, message: "another operator holds circuit \(name.quoted) \(hold.state.rawValue)",
            path: self.path)
    }

    /// Deletes a circuit; nil if it no longer exists.
    fileprivate func forget(
        _ circuit: Database.Selected.Circuit, evenIfInUse isForced: Bool, by who: String?, reason: String?
    ) throws(BreakerStoreError) -> BatchedCommand.Made? {
        // The operator may delete a circuit because its row can't be read.
        let stored = try? self.circuit(circuit.name)
        if !isForced { try self.requireUnused(circuit) }
        let from = stored?.word(at: self.now) ?? StateChange.unreadable
        guard try self.forget(circuit.id, name: circuit.name, by: who, reason: reason) else {
            if circuit.mustBeThere { throw .noSuchCircuit(circuit.name, self.path) }
            return nil
        }
        return BatchedCommand.Made(
            change: StateChange(name: circuit.name, from: from, to: StateChange.forgotten), holdEnd: nil)
    }

    fileprivate func requireUnused(_ circuit: Database.Selected.Circuit) throws(BreakerStoreError) {
        let workers = try self.database.all(
            """
            SELECT worker.id, worker.name, worker.pid FROM registration
            JOIN worker ON worker.id = registration.worker WHERE registration.circuit = ?1
            """,
            .integer(circuit.id)
        ) { (id: $0.worker(0), name: $0.text(1), pid: $0.integer(2)) }
        guard let user = workers.first(where: { self.isAlive($0.id) }) else { return }
        throw BreakerStoreError(
            code: .inUse,
            message: "circuit \(circuit.name.quoted) is registered by \(user.name.escaped)[\(user.pid)], "
                + "which is still running",
            advice: "stop all processes that use it first",
            path: self.path
        )
    }
}

extension Circuit {
    /// The word for the state that users see, which ignores a hold that is over.
    fileprivate func word(at now: StoreTime) -> String { self.hold(at: now) == nil ? self.state.word : self.word }

    /// Applies an action; returns whether it changed anything.
    fileprivate mutating func apply(
        _ action: OperatorAction,
        at now: StoreTime,
        by who: String?,
        reason: String?
    ) -> Bool {
        switch action {
        case .reset:
            self.reset(at: now, reason: reason)
            return true
        case .hold(let state, let duration):
            self.held(state, for: duration?.saturatingMicroseconds, by: who, reason: reason, at: now)
            return true
        case .release:
            return self.released(at: now, reason: reason)
        case .probe:
            return self.probesAllowed(at: now, reason: reason)
        }
    }
}
