/// What a link to other hosts asks of a file.
extension CircuitStore {
    /// Reads all circuits whose names match a pattern, as of one instant, ordered by their numbers.
    ///
    /// Leaves out a circuit whose row can't be read, or whose name no statement can look for. Throws
    /// `invalidConfiguration`, `closed` or `forked`, or an error from reading the file. Reads on the calling thread.
    package func linkedCircuits(matching pattern: String) throws(BreakerStoreError) -> [LinkedCircuit] {
        try self.linkedCircuits(matching: pattern, eventsAfter: 0).circuits
    }

    /// Reads the same circuits, but only the part of the history that is newer than an event.
    ///
    /// To read the histories of all circuits costs far more than all else. A caller that reads often keeps the
    /// transitions that it has seen, and takes nil here as unchanged.
    ///
    /// - Parameters:
    ///   - pattern: matches the names.
    ///   - event: the number that the last reading returned. If the file has not reached this number, another file has
    ///     taken the store's place: then all of the history is read.
    /// - Returns: the circuits; the number of the newest event at that instant; the file's own number.
    package func linkedCircuits(
        matching pattern: String, eventsAfter event: Int64
    ) throws(BreakerStoreError) -> (circuits: [LinkedCircuit], newestEvent: Int64, file: Int64) {
        try Validation.pattern(pattern)
        return try self.view { (view) throws(BreakerStoreError) in
            let newest = try view.database.newestEvent()
            let start = event <= newest ? event : 0
            let moment = view.moment
            let words = try LinkWord.read(pattern, in: view.database, at: moment.now)
            let changed = try view.database.circuits(withEventsAfter: start)
            var found: [LinkedCircuit] = []
            try view.database.circuits(
                .matching(pattern), failures: LinkedCircuit.mostFailures, countedOn: view.board,
                while: { (stored) throws(BreakerStoreError) in
                    guard CircuitName.lengths.contains(stored.name.unicodeScalars.count) else { return true }
                    var circuit = LinkedCircuit(stored, words[stored.row.id] ?? [], at: moment)
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
    /// for `busyTimeout`.
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
        _ order: LinkOrder, on name: String, ifEpoch epoch: Int64, by who: String?, reason: String?
    ) throws(BreakerStoreError) -> Int64? {
        let (who, reason) = (who.map(LinkText.cut), reason.map(LinkText.cut))
        let asked = ContinuousClock.now
        return try self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            // Checked first: an order that comes too late must not even count the circuit's failures.
            guard try transaction.circuit(name)?.epoch == epoch else { return nil }
            switch order {
            case .obey(let word, let leavesTrip, let serverTime):
                guard
                    try transaction.obey(word, on: name, by: who, leavesTrip: leavesTrip, serverTime: serverTime)
                else { return nil }
                let after = try transaction.circuit(name)?.epoch
                if after != epoch { transaction.requireSync() }
                return after
            case .stamp(let serverTime, let notBefore):
                // The words grew older while this transaction waited for the file.
                let waited = asked.duration(to: .now).saturatingMicroseconds
                let isStamped = try transaction.stampWords(
                    of: name, serverTime: serverTime.addingSaturating(waited), notBefore: notBefore)
                // On the disk before the link sends it: after a power loss, a host must not stamp the word again.
                if isStamped { transaction.requireSync() }
                return isStamped ? epoch : nil
            default: break
            }
            let change = try transaction.change(name, by: who) { circuit, moment, _ -> Int64? in
                circuit.obey(order, by: who, reason: reason, at: moment.now) ? circuit.epoch : nil
            }
            guard case let after?? = change else { return nil }
            if after != epoch { transaction.requireSync() }
            return after
        }
    }
}

extension Circuit {
    /// Returns whether the order applies.
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
