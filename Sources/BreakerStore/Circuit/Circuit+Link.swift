/// Orders of a link to a circuit; `Circuit+Operator.swift` has the commands of operators, also those of other hosts.
///
/// Each function except the reset returns whether the order was applied; if not, nothing changed, as in a state of a
/// later release. A hold that is in force continues to override the new state.
extension Circuit {
    /// Opens the circuit: the hosts have tripped it together, or the probe of a host has failed.
    ///
    /// - Parameter duration: how long from now, limited to the longest recovery of the circuit's rules.
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

    /// Makes an open circuit stay open for longer, without a new epoch and without an event.
    ///
    /// The link would take a new epoch for a change that this host made. If the extension is lost, the link orders it
    /// again.
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
        self.clearedAt = now
        self.move(to: .closed, at: now, as: .closed, reason: reason)
        return true
    }

    /// Resets the circuit as an operator of another host did at `time`, a store time: nothing from before `time` counts
    /// any longer.
    ///
    /// A closed circuit stays as it is if nothing before `time` counts and no hold is to end.
    mutating func resetOrdered(asOf time: StoreTime, endsHold: Bool, reason: String?, at now: StoreTime) {
        if self.state == .closed, self.hold == nil || !endsHold {
            let hasFailures = self.failureCount.oldest.map { $0 <= time } ?? false
            let hasCalls = self.rules.longestRateWindow.map { now.subtracting($0) < time } ?? false
            guard hasFailures || hasCalls else {
                self.clearedAt = max(self.clearedAt ?? time, time)
                return
            }
        }
        self.reset(at: now, endsHold: endsHold, reason: reason)
    }

    /// Makes an open circuit due for probes now: this host is to probe for all hosts.
    ///
    /// The new epoch separates the probes of this host from an outage in which another host was to probe. The history
    /// gets no event: hosts take turns at probing, and no operator asked for this turn.
    mutating func probeOrdered(at now: StoreTime) -> Bool {
        guard self.hold(at: now) == nil, case .open(let until) = self.state else { return false }
        if now < until { self.enter(.open(until: now), since: self.since, epochAt: now) }
        return true
    }

    /// The later of the ordered end and the one of an open circuit: a provider may have declared it to this host alone.
    private func endOrdered(after duration: Int64, at now: StoreTime) -> StoreTime {
        let end = now.adding(min(max(0, duration), self.rules.longestRecovery))
        switch self.state {
        case .open(let until): return max(until, end)
        case .closed, .halfOpen, .unknown: return end
        }
    }
}
