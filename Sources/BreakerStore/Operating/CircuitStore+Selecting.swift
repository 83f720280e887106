/// Applies an operator's action to several circuits in one transaction: to all or none.
extension CircuitStore {
    /// Applies an action to all selected circuits, which are matched in the transaction that changes them.
    ///
    /// The answer leaves out a circuit to which there is nothing to do, such as the release of a circuit that is not
    /// held. It also leaves out a circuit that a pattern found and whose name is not UTF-8. A row that can't be read is
    /// healed first, as for a call. Throws `noSuchCircuit` for a name that must be there, else as `reset(_:by:reason:)`
    /// does; then nothing is changed. Commits on the calling thread, and waits at most for `busyTimeout`.
    ///
    /// - Parameters:
    ///   - action: the action.
    ///   - selection: the circuits.
    ///   - who: the operator.
    ///   - reason: why.
    ///   - check: called in the transaction for each circuit that is held; where it says no, `inUse` is thrown, and
    ///     nothing is changed. Nil ends all holds.
    @_disfavoredOverload
    package func perform(
        _ action: OperatorAction,
        on selection: [CircuitSelector],
        by who: String? = nil,
        reason: String? = nil,
        mayEndHold check: OperatorAction.HoldCheck? = nil
    ) throws(BreakerStoreError) -> [StateChange] {
        try action.validate()
        let core = try self.usableCore()
        let made = try core.commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.perform(action, on: selection, by: who, reason: reason, mayEndHold: check)
        }
        let date = core.clock.dates()
        return made.map { made in
            var change = made.change
            change.holdEnd = made.holdEnd.map(date)
            return change
        }
    }

    /// Does the same without blocking a thread.
    func perform(
        _ action: OperatorAction,
        on selection: [CircuitSelector],
        by who: String? = nil,
        reason: String? = nil
    ) async throws(BreakerStoreError) {
        try action.validate()
        _ = try await self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.perform(action, on: selection, by: who, reason: reason)
        }
    }

    /// Deletes all selected circuits; their history stays.
    ///
    /// The transaction that deletes them checks whether live workers have them registered. Throws `noSuchCircuit` for a
    /// name that must be there, `inUse` for a registered circuit, else as `forget(_:by:reason:)` does; then nothing is
    /// changed. Commits on the calling thread, and waits at most for `busyTimeout`.
    ///
    /// - Parameters:
    ///   - selection: the circuits.
    ///   - isForced: whether to delete circuits in use, too.
    ///   - who: the operator.
    ///   - reason: why.
    package func forget(
        _ selection: [CircuitSelector],
        evenIfInUse isForced: Bool,
        by who: String? = nil,
        reason: String? = nil
    ) throws(BreakerStoreError) -> [StateChange] {
        let changes = try self.usableCore().commit(until: self.deadline) {
            (transaction) throws(BreakerStoreError) -> [StateChange] in
            var changes: [StateChange] = []
            for found in try transaction.select(selection) {
                // The operator may delete a circuit because its row can't be read.
                let circuit = try? transaction.circuit(found.name)
                if !isForced { try transaction.requireUnused(found) }
                let from = circuit?.word(at: transaction.now) ?? StateChange.unreadable
                guard try transaction.forget(found.id, name: found.name, by: who, reason: reason) else { continue }
                changes.append(StateChange(name: found.name, from: from, to: StateChange.forgotten))
            }
            return changes
        }
        self.backend.core?.circuits.drop(forgotten: changes.map(\.name))
        return changes
    }
}

extension OperatorAction {
    fileprivate func validate() throws(BreakerStoreError) {
        if case .hold(_, let duration?) = self { try Validation.duration(duration, "duration") }
    }
}

extension Transaction {
    /// Applies an action; returns the changes, each with the end of the circuit's new hold.
    fileprivate func perform(
        _ action: OperatorAction, on selection: [CircuitSelector], by who: String?, reason: String?,
        mayEndHold check: OperatorAction.HoldCheck? = nil
    ) throws(BreakerStoreError) -> [(change: StateChange, holdEnd: StoreTime?)] {
        let who = who.map { OperatorName.ofPerson($0) }
        var changes: [(change: StateChange, holdEnd: StoreTime?)] = []
        for found in try self.select(selection) {
            let name = found.name
            if let check { try self.requireEndable(name, check) }
            let change = try self.change(name, by: who) { circuit, moment, _ -> (StateChange, StoreTime?)? in
                let from = circuit.word(at: moment.now)
                guard circuit.apply(action, at: moment.now, by: who, reason: reason) else { return nil }
                return (StateChange(name: name, from: from, to: circuit.word(at: moment.now)), circuit.hold?.until)
            }
            // A name that is not UTF-8 was found by its shown form. No statement can look for the real name.
            if change == nil, found.isNamed { throw .noSuchCircuit(name, self.path) }
            if case let change?? = change {
                changes.append(change)
                try self.said(action.word(by: who, reason: reason), of: name)
            }
        }
        return changes
    }

    /// Throws if the circuit has a hold that may not be ended.
    private func requireEndable(_ name: String, _ check: OperatorAction.HoldCheck) throws(BreakerStoreError) {
        guard let hold = try self.circuit(name)?.hold(at: self.now), !check(name, hold.by) else { return }
        throw BreakerStoreError(
            code: .inUse, message: "another operator holds circuit \(name.quoted) \(hold.state.rawValue)",
            path: self.path)
    }

    /// The selected circuits, in the order of their names.
    fileprivate func select(
        _ selection: [CircuitSelector]
    ) throws(BreakerStoreError) -> [Database.Selected.Circuit] {
        let selected = try self.database.select(selection)
        if let missing = selected.missing.first { throw .noSuchCircuit(missing, self.path) }
        return selected.circuits.sorted {
            $0.name.utf8.elementsEqual($1.name.utf8)
                ? $0.id < $1.id : $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
    }

    fileprivate func requireUnused(_ circuit: Database.Selected.Circuit) throws(BreakerStoreError) {
        let workers = try self.database.all(
            """
            SELECT worker.id, worker.name, worker.pid FROM registration
            JOIN worker ON worker.id = registration.worker WHERE registration.circuit = ?1
            """,
            .integer(circuit.id)
        ) { (id: $0.integer(0), name: $0.text(1), pid: $0.integer(2)) }
        guard let user = workers.first(where: { self.isAlive($0.id) }) else { return }
        throw BreakerStoreError(
            code: .inUse,
            message: "circuit \(circuit.name.quoted) is registered by \(user.name.escaped)[\(user.pid)], which lives",
            advice: "end all that use it first",
            path: self.path
        )
    }
}

extension Circuit {
    /// The word for the state that users see; a hold that is over does not count.
    fileprivate func word(at now: StoreTime) -> String { self.hold(at: now) == nil ? self.state.word : self.word }

    /// Applies an action; returns whether there was anything to do.
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
