/// A link's orders to a circuit; `Circuit+Operator.swift` has the orders of operators, also those of other hosts.
///
/// Each function except the reset returns whether the order applies, and otherwise changes nothing, such as a state of
/// a later version. A hold that is in force stays above the new state.
extension Circuit {
    /// Opens the circuit: the hosts have opened it together, or one host has seen that the service still fails.
    ///
    /// - Parameter duration: how long from now; at most the longest recovery of the circuit's rules.
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

    /// Makes the stay of an open circuit longer or shorter, without a new epoch and without an event.
    mutating func extensionOrdered(for duration: Int64, at now: StoreTime) -> Bool {
        switch self.state {
        case .open: self.state = .open(until: self.endOrdered(after: duration, at: now))
        case .closed, .halfOpen, .unknown: return false
        }
        return true
    }

    /// Closes the circuit: a probe of another host has succeeded.
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

    /// Resets the circuit as an operator of another host did at `time`: nothing from before `time` counts any longer.
    ///
    /// A closed circuit stays as it is if nothing before `time` counts and no hold is to end.
    mutating func resetOrdered(saidAt time: StoreTime, endsHold: Bool, reason: String?, at now: StoreTime) {
        if self.state == .closed, self.hold == nil || !endsHold {
            let hasFailures = self.tally.oldest.map { $0 <= time } ?? false
            let hasCalls = self.rules.longestShareWindow.map { now.subtracting($0) < time } ?? false
            guard hasFailures || hasCalls else { return }
        }
        self.reset(at: now, endsHold: endsHold, reason: reason)
    }

    /// Lets the probes of an open circuit through from now on: this host is to probe for all hosts.
    ///
    /// The new epoch separates this stay from the stay in which another host was to probe. The history gets no event:
    /// hosts take turns at probing, and no operator asked for this turn.
    mutating func probeOrdered(at now: StoreTime) -> Bool {
        guard self.hold(at: now) == nil, case .open(let until) = self.state else { return false }
        if now < until { self.enter(.open(until: now), at: self.since, epochAt: now) }
        return true
    }

    private func endOrdered(after duration: Int64, at now: StoreTime) -> StoreTime {
        now.adding(min(max(0, duration), self.rules.longestRecovery))
    }
}
