/// An operator's actions on several circuits: in one transaction, all or none.
extension CircuitStore {
    /// Does the same to all selected circuits, which are matched in the transaction that changes them.
    ///
    /// Throws `noSuchCircuit` for a name that must be there, else as `reset(_:by:reason:)` does; then nothing is changed.
    /// Commits on the calling thread, which waits at most for `busyTimeout`.
    package func perform(
        _ action: OperatorAction,
        on selection: [CircuitSelector],
        by who: String? = nil,
        reason: String? = nil
    ) throws(BreakerStoreError) -> [StateChange] {
        if case .hold(_, let duration?) = action { try Validation.duration(duration, "duration") }
        return try self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            var changes: [StateChange] = []
            for name in try transaction.names(of: selection) {
                let change = try transaction.change(name, by: who) { circuit, moment in
                    let from = circuit.word(at: moment.now)
                    circuit.apply(action, at: moment.now, by: who, reason: reason)
                    return StateChange(name: name, from: from, to: circuit.word(at: moment.now))
                }
                if let change { changes.append(change) }
            }
            return changes
        }
    }
}

extension Transaction {
    /// The names of the selected circuits, each once, in their order.
    fileprivate func names(of selection: [CircuitSelector]) throws(BreakerStoreError) -> [String] {
        var names: [CircuitName: String] = [:]
        for selector in selection {
            for name in try self.names(of: selector) { names[CircuitName(name)] = name }
        }
        return names.values.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func names(of selector: CircuitSelector) throws(BreakerStoreError) -> [String] {
        switch selector {
        case .named(let name):
            guard try self.circuit(name) != nil else { throw .noSuchCircuit(name, self.path) }
            return [name]
        case .namedIfPresent(let name):
            return try self.circuit(name) == nil ? [] : [name]
        case .pattern(let pattern):
            return try self.names(matching: pattern)
        case .nameOrPattern(let text):
            if try self.circuit(text) != nil { return [text] }
            guard CircuitSelector.isPattern(text) else { throw .noSuchCircuit(text, self.path) }
            return try self.names(matching: text)
        }
    }

    private func names(matching pattern: String) throws(BreakerStoreError) -> [String] {
        try self.database.all("SELECT name FROM circuit WHERE name GLOB ?1", .text(pattern)) { $0.text(0) }
    }
}

extension Circuit {
    /// The word for the state that people read; a hold whose time is over counts no more.
    fileprivate func word(at now: StoreTime) -> String { self.hold(at: now) == nil ? self.state.word : self.word }

    fileprivate mutating func apply(_ action: OperatorAction, at now: StoreTime, by who: String?, reason: String?) {
        switch action {
        case .reset: self.reset(at: now, reason: reason)
        case .hold(let state, let duration):
            self.held(state, for: duration?.saturatingMicroseconds, by: who, reason: reason, at: now)
        case .release: _ = self.released(at: now, reason: reason)
        }
    }
}
