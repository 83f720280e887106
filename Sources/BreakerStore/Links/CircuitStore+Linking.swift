/// Reads and changes a file for a link to other hosts.
extension CircuitStore {
    /// Reads all circuits whose names match a pattern, as of one instant, ordered by their ids.
    ///
    /// Leaves out a circuit whose row can't be read, or whose name no statement can search for. Throws
    /// `invalidConfiguration`, `closed` or `forked`, or an error from reading the file. Reads on the calling thread.
    package func linkedCircuits(matching pattern: String) throws(BreakerStoreError) -> [LinkedCircuit] {
        try self.linkedCircuits(matching: pattern, eventsAfter: 0).circuits
    }

    /// Reads the same circuits, but only the part of the history that is newer than an event.
    ///
    /// Reading the histories of all circuits costs far more than all else. A caller that reads often keeps the
    /// transitions that it has read, and takes a nil `transition` for unchanged.
    ///
    /// - Parameters:
    ///   - pattern: matches the names.
    ///   - event: the id that the last call returned. If the file has no event with so high an id, another file has
    ///     taken the store's place: then all of the history is read.
    /// - Returns: the circuits; the id of the newest event at that instant; the file's incarnation.
    package func linkedCircuits(
        matching pattern: String, eventsAfter event: Int64
    ) throws(BreakerStoreError) -> (circuits: [LinkedCircuit], newestEvent: Int64, file: Int64) {
        try Validation.pattern(pattern)
        return try self.view { (view) throws(BreakerStoreError) in
            let newest = try view.database.newestEvent()
            let start = event <= newest ? event : 0
            let moment = view.moment
            let commands = try OperatorCommand.read(pattern, in: view.database, at: moment.now)
            let changed = try view.database.circuits(withEventsAfter: start)
            var found: [LinkedCircuit] = []
            try view.database.circuits(
                .matching(pattern), failures: LinkedCircuit.maxFailures, countedOn: view.board,
                while: { (stored) throws(BreakerStoreError) in
                    guard CircuitName.lengths.contains(stored.name.unicodeScalars.count) else { return true }
                    var circuit = LinkedCircuit(stored, commands[stored.row.id] ?? [], at: moment)
                    if changed?.contains(CircuitName(stored.name)) ?? true || circuit.lacksTrip {
                        try circuit.readHistory(after: start, in: view.database, at: moment.now)
                    }
                    found.append(circuit)
                    return true
                })
            return (found, newest, view.incarnation ?? 0)
        }
    }

    /// Applies a decision of other hosts or their operators to a circuit, in one transaction.
    ///
    /// Throws as `reset(_:by:reason:)` does, except `noSuchCircuit`. Commits on the calling thread, and waits at most
    /// `busyTimeout`.
    ///
    /// - Parameters:
    ///   - order: the decision.
    ///   - name: the circuit's name.
    ///   - epoch: the circuit's epoch when the link decided.
    ///   - who: the operator for the history: `LinkOrder.fleet`, or `LinkOrder.fleet(for:)` for a person.
    ///   - reason: why.
    /// - Returns: the circuit's epoch after the order; nil if nothing was done, because there is no such circuit, it
    ///   has another epoch by now, or the order does not apply to its state.
    package func obey(
        _ order: LinkOrder, on name: String, ifEpoch epoch: Epoch, by who: String?, reason: String?
    ) throws(BreakerStoreError) -> Epoch? {
        let (who, reason) = (who.map(LinkText.cut), reason.map(LinkText.cut))
        let start = ContinuousClock.now
        return try self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            // Checked first: for an order that is too late, the transaction must not even read the failures.
            guard try transaction.circuit(name)?.epoch == epoch else { return nil }
            switch order {
            case .obey(let command, let keepsTrip, let serverTime):
                guard
                    try transaction.obey(command, on: name, by: who, keepsTrip: keepsTrip, serverTime: serverTime)
                else { return nil }
                let after = try transaction.circuit(name)?.epoch
                if after != epoch { transaction.setHasDurableChanges() }
                return after
            case .stamp(let serverTime, let notBefore):
                // Time has passed at the server, too, while this transaction waited for the write lock.
                let waited = start.duration(to: .now).saturatingMicroseconds
                let isStamped = try transaction.stampCommands(
                    of: name, serverTime: serverTime.addingSaturating(waited), notBefore: notBefore)
                // On the disk before the link sends it: after a power loss, a host must not stamp the command again.
                if isStamped { transaction.setHasDurableChanges() }
                return isStamped ? epoch : nil
            case .open, .extend, .close, .probe: break
            }
            let change = try transaction.change(name, by: who) { circuit, moment, _ -> Epoch? in
                circuit.obey(order, by: who, reason: reason, at: moment.now) ? circuit.epoch : nil
            }
            guard case let after?? = change else { return nil }
            if after != epoch { transaction.setHasDurableChanges() }
            return after
        }
    }
}

extension Circuit {
    /// Applies an order to the state; returns false if it does not apply, or is about commands.
    mutating func obey(_ order: LinkOrder, by who: String?, reason: String?, at now: StoreTime) -> Bool {
        switch order {
        case .open(let duration, let trips):
            return self.openOrdered(for: duration, trips: trips, reason: reason, at: now)
        case .extend(let duration):
            return self.extensionOrdered(for: duration, at: now)
        case .close:
            return self.closeOrdered(reason: reason, at: now)
        case .probe:
            return self.probeOrdered(at: now)
        case .obey, .stamp:
            return false
        }
    }
}
