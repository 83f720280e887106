/// Stamps that are too far in the future: another program or a damaged disk may have put any value into the rows.
extension Circuit {
    /// Corrects stamps that can't be right, so that a bad stamp neither keeps this circuit open forever nor moves a
    /// process's clock.
    ///
    /// A time of something that has happened is now at the latest. An open circuit becomes due after its longest
    /// recovery at most, and a lease ends likewise. The end of a hold stays: an operator may have meant it. Rules that
    /// this release can't use give no limit for a recovery or a lease.
    mutating func clampFutureStamps(for now: StoreTime) {
        self.since = min(self.since, now)
        // No success can be in the future. With the stamp moved to now, each failure that ended before this commit
        // would count as forgotten.
        if let forgotten = self.forgottenUntil, forgotten > now { self.forgottenUntil = nil }
        self.trippedSince = self.trippedSince.map { min($0, now) }
        self.clearedAt = self.clearedAt.map { min($0, now) }
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

    /// The same circuit by another clock, which is `microseconds` ahead of the clock of its stamps.
    func shifted(by microseconds: Int64) -> Circuit {
        guard microseconds != 0 else { return self }
        func shifted(_ time: StoreTime) -> StoreTime { time.adding(microseconds) }
        var circuit = self
        circuit.since = shifted(self.since)
        circuit.forgottenUntil = self.forgottenUntil.map(shifted)
        circuit.trippedSince = self.trippedSince.map(shifted)
        circuit.clearedAt = self.clearedAt.map(shifted)
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

    /// Whether the circuit has a stamp that `clampFutureStamps` would correct.
    func hasStampsAhead(of now: StoreTime) -> Bool {
        var clamped = self
        clamped.clampFutureStamps(for: now)
        return clamped != self
    }
}
