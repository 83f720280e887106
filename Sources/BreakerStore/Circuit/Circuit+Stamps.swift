/// Instants that can't be: the rows may hold whatever somebody wrote, or a disk garbled.
extension Circuit {
    /// Takes what lies ahead of now for now, so that a bad stamp neither keeps this circuit open for ever nor moves
    /// anybody's clock.
    ///
    /// An open circuit is due after its longest recovery at most. The end of a hold stays: an operator may have meant
    /// it.
    mutating func takeStampsAhead(for now: StoreTime) {
        self.since = min(self.since, now)
        // No success can have happened in the future. A stamp moved to now would hide every failure that ended before
        // its commit.
        if let forgotten = self.forgottenUntil, forgotten > now { self.forgottenUntil = nil }
        if let hold = self.hold { self.hold?.since = min(hold.since, now) }
        switch self.state {
        case .open(let until): self.state = .open(until: min(until, now.adding(self.rules.longestRecovery)))
        case .closed, .halfOpen, .unknown: break
        }
        // The newest ones come last.
        if let newest = self.failures.last, newest.at > now { self.takeFailuresAhead(for: now) }
        for index in self.probes.indices {
            self.probes[index].since = min(self.probes[index].since, now)
            self.probes[index].leaseEnds = min(self.probes[index].leaseEnds, now.adding(self.rules.lease))
        }
    }

    /// Whether there is any such stamp.
    func hasStampsAhead(of now: StoreTime) -> Bool {
        var taken = self
        taken.takeStampsAhead(for: now)
        return taken != self
    }

    private mutating func takeFailuresAhead(for now: StoreTime) {
        let inTime = self.failures.prefix { $0.at <= now }
        // Two rows with one key differ in their stamps alone, and would be the same row now.
        var keys: Set<Failure> = []
        let ahead = self.failures[inTime.endIndex...].compactMap { failure -> Failure? in
            let taken = Failure(at: now, worker: failure.worker, sequence: failure.sequence)
            return keys.insert(taken).inserted && !inTime.contains(taken) ? taken : nil
        }
        self.failures = inTime + ahead
    }
}
