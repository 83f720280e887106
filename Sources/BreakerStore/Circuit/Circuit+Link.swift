/// What a link to other hosts has a circuit do; for what an operator of another host did, see `Circuit+Operator.swift`.
///
/// Each returns whether the order applies; where it does not, nothing has changed. A state of a later version is left
/// alone. A hold that is in force stays, over whatever state the order leads to.
extension Circuit {
    /// The hosts have opened the circuit together, or one of them has seen that the service still fails.
    ///
    /// - Parameter duration: for so long from now; never for longer than the file takes a circuit for open.
    mutating func openOrdered(for duration: Int64, trips: Int, reason: String?, at now: StoreTime) -> Bool {
        let kind: CircuitEvent.Kind
        switch self.state {
        case .closed: kind = .tripped
        case .open, .halfOpen: kind = .reopened
        case .unknown: return false
        }
        self.endHoldIfOver(at: now)
        self.tripsInARow = max(0, trips)
        if kind == .tripped {
            self.trippedSince = now
            self.trip = Trip(reason: reason)
        }
        self.move(to: .open(until: self.endOrdered(after: duration, at: now)), at: now, as: kind, reason: reason)
        return true
    }

    /// An open circuit stays open for longer, or less long, than it would have: the stay is the same, and the history
    /// says nothing.
    mutating func extensionOrdered(for duration: Int64, at now: StoreTime) -> Bool {
        switch self.state {
        case .open: self.state = .open(until: self.endOrdered(after: duration, at: now))
        case .closed, .halfOpen, .unknown: return false
        }
        return true
    }

    /// A probe of another host has succeeded.
    mutating func closeOrdered(reason: String?, at now: StoreTime) -> Bool {
        switch self.state {
        case .open, .halfOpen: break
        case .closed, .unknown: return false
        }
        self.endHoldIfOver(at: now)
        self.forgetFailures()
        self.tripsInARow = 0
        self.move(to: .closed, at: now, as: .closed, reason: reason)
        return true
    }

    /// A person has reset the circuit on another host, before now: nothing from before that counts any more.
    ///
    /// A closed circuit in which nothing from before counts stays as it is.
    mutating func resetOrdered(saidAt time: StoreTime, endsHold: Bool, reason: String?, at now: StoreTime) {
        if self.state == .closed, self.hold == nil || !endsHold {
            let hasFailures = self.tally.oldest.map { $0 <= time } ?? false
            let hasCalls = self.rules.longestShareWindow.map { now.subtracting($0) < time } ?? false
            guard hasFailures || hasCalls else { return }
        }
        self.reset(at: now, endsHold: endsHold, reason: reason)
    }

    /// This host is to probe for all: its open circuit lets the probes through from now on.
    ///
    /// The new epoch tells this stay from the one in which another host was to probe. The history does not: hosts take
    /// turns at probing, and nobody asked for this turn.
    mutating func probeOrdered(at now: StoreTime) -> Bool {
        guard self.hold(at: now) == nil, case .open(let until) = self.state else { return false }
        if now < until { self.enter(.open(until: now), at: self.since, epochAt: now) }
        return true
    }

    private func endOrdered(after duration: Int64, at now: StoreTime) -> StoreTime {
        now.adding(min(max(0, duration), self.rules.longestRecovery))
    }
}
