/// Instants too far in the future: another program or a damaged disk may have put any value into the rows.
extension Circuit {
    /// Corrects instants too far ahead of now, so that a bad stamp neither keeps this circuit open forever nor moves a
    /// process's clock.
    ///
    /// An open circuit is due after its longest recovery at most. The end of a hold stays: an operator may have meant
    /// it. Rules that this release can't use say nothing of how long a recovery or a lease may be.
    mutating func takeStampsAhead(for now: StoreTime) {
        self.since = min(self.since, now)
        // No success can have happened in the future. A stamp moved to now would hide every failure that ended before
        // its commit.
        if let forgotten = self.forgottenUntil, forgotten > now { self.forgottenUntil = nil }
        self.trippedSince = self.trippedSince.map { min($0, now) }
        if let hold = self.hold { self.hold?.since = min(hold.since, now) }
        for index in self.probes.indices { self.probes[index].since = min(self.probes[index].since, now) }
        guard self.rules.areAsStored else { return }
        switch self.state {
        case .open(let until): self.state = .open(until: min(until, now.adding(self.rules.longestRecovery)))
        case .closed, .halfOpen, .unknown: break
        }
        let leaseEnds = now.adding(self.rules.probes.lease.saturatingMicroseconds)
        for index in self.probes.indices {
            self.probes[index].leaseEnds = min(self.probes[index].leaseEnds, leaseEnds)
        }
    }

    /// The same circuit by a clock that is so many microseconds ahead of the clock of its stamps.
    func shifted(by microseconds: Int64) -> Circuit {
        guard microseconds != 0 else { return self }
        func shifted(_ time: StoreTime) -> StoreTime { time.adding(microseconds) }
        var circuit = self
        circuit.since = shifted(self.since)
        circuit.forgottenUntil = self.forgottenUntil.map(shifted)
        circuit.trippedSince = self.trippedSince.map(shifted)
        circuit.hold = self.hold.map {
            Hold(
                state: $0.state, since: shifted($0.since), until: $0.until.map(shifted), by: $0.by, reason: $0.reason)
        }
        switch self.state {
        case .open(let until): circuit.state = .open(until: shifted(until))
        case .unknown(let word, let until): circuit.state = .unknown(word, until: until.map(shifted))
        case .closed, .halfOpen: break
        }
        circuit.probes = self.probes.map {
            Probe(
                token: $0.token, worker: $0.worker, since: shifted($0.since), leaseEnds: shifted($0.leaseEnds),
                prober: $0.prober)
        }
        return circuit
    }

    /// Whether the circuit has such a stamp.
    func hasStampsAhead(of now: StoreTime) -> Bool {
        var taken = self
        taken.takeStampsAhead(for: now)
        return taken != self
    }
}
