/// Commands of operators: reset, hold, release and probe; and the end of a hold by time.
extension Circuit {
    /// Closes the circuit and forgets its failures; ends a hold, too, if `endsHold`.
    mutating func reset(at now: StoreTime, endsHold: Bool = true, reason: String?) {
        let from = self.word
        let ended = endsHold ? self.hold(at: now) : nil
        self.forgetFailures()
        self.forgottenUntil = nil
        self.tripsInARow = 0
        if endsHold { self.hold = nil }
        self.clearedAt = now
        self.enter(.closed, at: now)
        self.record(.reset, from: from, reason: reason, subject: ended?.by)
    }

    /// Holds the circuit; a half-open circuit loses its slots, and becomes open and due beneath the hold.
    mutating func held(_ state: HoldState, for duration: Int64?, by who: String?, reason: String?, at now: StoreTime) {
        self.endHoldIfOver(at: now)
        let from = self.word
        let replaced = self.hold
        switch self.state {
        case .closed, .open, .unknown: self.enter(self.state, since: self.since, epochAt: now)
        case .halfOpen: self.enter(.open(until: now), at: now)
        }
        self.hold = Hold(state: state, since: now, until: duration.map(now.adding), by: who, reason: reason)
        self.record(.held, from: from, reason: reason, subject: replaced?.by)
    }

    /// Ends the hold; returns whether there was a hold.
    mutating func released(at now: StoreTime, reason: String?) -> Bool {
        self.endHoldIfOver(at: now)
        guard let hold = self.hold else { return false }
        let from = self.word
        self.hold = nil
        self.enter(self.state, since: self.since, epochAt: now)
        self.record(.released, from: from, reason: reason, subject: hold.by)
        return true
    }

    /// Makes an open circuit due for probes now; returns false if it was due already, or is not open.
    ///
    /// The circuit stays open until a probe succeeds: a reset would send all traffic to a service that is just
    /// recovering.
    mutating func probesAllowed(at now: StoreTime, reason: String?) -> Bool {
        self.endHoldIfOver(at: now)
        guard self.hold == nil, case .open(let until) = self.state, now < until else { return false }
        let from = self.word
        self.clearedAt = now
        self.enter(.open(until: now), since: self.since, epochAt: now)
        self.record(.probeAllowed, from: from, reason: reason)
        return true
    }

    /// How the reason in the history begins if a hold ended by time, not by an operator.
    static let endOfHold = "its time is over"

    /// Ends a hold whose time is over; the first event after that adds the end to the history.
    ///
    /// The epoch stays: calls under the hold report nothing, and calls after the end of the hold must count.
    mutating func endHoldIfOver(at now: StoreTime) {
        guard let hold = self.hold, self.hold(at: now) == nil else { return }
        let from = self.word
        self.hold = nil
        // The event has the time of this commit, which may come long after the end.
        let late = Duration.microseconds(now.microseconds(since: hold.until ?? now))
        let reason = late < .seconds(1) ? Self.endOfHold : "\(Self.endOfHold): it ended \(late.readable) before"
        self.record(.released, from: from, reason: reason, subject: hold.by, isOfItself: true)
    }

    mutating func configured(_ rules: Rules, change: String) {
        self.rules = rules
        self.record(.configured, from: self.word, reason: change)
    }

    /// Begins a new epoch of a state that began at `since`.
    mutating func enter(_ state: State, since: StoreTime, epochAt now: StoreTime) {
        self.enter(state, at: now)
        self.since = since
    }
}

extension CircuitEvent {
    /// Whether a hold ended because its time was over.
    ///
    /// The worker that recorded it has done nothing but that.
    package var isEndOfHoldByTime: Bool {
        self.kind == .released && self.by == nil && self.reason?.hasPrefix(Circuit.endOfHold) == true
    }
}
