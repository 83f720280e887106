/// What a link to other hosts asks of a file.
extension CircuitStore {
    /// All circuits whose names match a pattern, as of one instant, in the order of their numbers.
    ///
    /// A circuit is left out whose row can't be read, or whose name no statement can look for. Throws
    /// `invalidConfiguration`, `closed` or `forked`, or what keeps the file from being read. Reads on the calling
    /// thread.
    package func linkedCircuits(matching pattern: String) throws(BreakerStoreError) -> [LinkedCircuit] {
        try self.linkedCircuits(matching: pattern, eventsAfter: 0).circuits
    }

    /// The same, of the history only what is newer than an event.
    ///
    /// To read the histories of all circuits costs far more than all else. Who looks often keeps the transitions that
    /// were seen, and has those that are nil here stay as they were.
    /// - Parameters:
    ///   - pattern: which circuits.
    ///   - event: the number that the look before has returned. If another file has taken the store's place since,
    ///     which has not reached this number, all of the history is told.
    /// - Returns: the circuits, and the number of the newest event at that instant; the file's own number.
    package func linkedCircuits(
        matching pattern: String, eventsAfter event: Int64
    ) throws(BreakerStoreError) -> (circuits: [LinkedCircuit], newestEvent: Int64, file: Int64) {
        try Validation.pattern(pattern)
        return try self.view { (view) throws(BreakerStoreError) in
            let newest = try view.database.newestEvent()
            let start = event <= newest ? event : 0
            let reading = try LinkReading(view, eventsAfter: start)
            return (try reading.circuits(matching: pattern), newest, reading.birth ?? 0)
        }
    }

    /// Has the file do to a circuit what other hosts, or people there, have decided, in one transaction.
    ///
    /// Throws as `reset(_:by:reason:)` does, but for `noSuchCircuit`. Commits on the calling thread, which waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - order: what is to be done.
    ///   - name: the circuit's name.
    ///   - epoch: that of the circuit as the decision knows it.
    ///   - who: the operator whom the history names: `LinkOrder.fleet`, or `LinkOrder.fleet(for:)` for a person.
    ///   - reason: why.
    /// - Returns: the circuit's epoch after the order; nil where nothing was done, because there is no such circuit, it
    ///   has another epoch by now, or the order does not apply to its state.
    package func obey(
        _ order: LinkOrder, on name: String, ifEpoch epoch: Int64, by who: String?, reason: String?
    ) throws(BreakerStoreError) -> Int64? {
        let (who, reason) = (who.map(LinkText.cut), reason.map(LinkText.cut))
        let asked = ContinuousClock.now
        return try self.usableCore().commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            // Asked first: an order that comes too late must not even count the circuit's failures.
            guard try transaction.circuit(name)?.epoch == epoch else { return nil }
            switch order {
            case .obey(let word, let leavesTrip):
                guard try transaction.obey(word, on: name, by: who, leavesTrip: leavesTrip) else { return nil }
                let after = try transaction.circuit(name)?.epoch
                if after != epoch { transaction.noteTransition() }
                return after
            case .stamp(let serverTime, let notBefore):
                // The words grew older while this waited for the file.
                let waited = asked.duration(to: .now).saturatingMicroseconds
                let isStamped = try transaction.stampWords(
                    of: name, serverTime: serverTime.addingSaturating(waited), notBefore: notBefore)
                // On the disk before it is told: a host that loses its power must not stamp the word anew.
                if isStamped { transaction.noteTransition() }
                return isStamped ? epoch : nil
            default: break
            }
            let change = try transaction.change(name, by: who) { circuit, moment, _ -> Int64? in
                circuit.obey(order, by: who, reason: reason, at: moment.now) ? circuit.epoch : nil
            }
            guard case let after?? = change else { return nil }
            if after != epoch { transaction.noteTransition() }
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
