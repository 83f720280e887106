extension LinkedCircuit {
    /// The most failures of a circuit that are read; a damaged file may have any number.
    static let maxFailures: Int64 = 100_000

    /// Describes a stored circuit as of a moment.
    init(_ stored: StoredCircuit, _ commands: [OperatorCommand], at moment: ReadingMoment) {
        let now = moment.now
        var circuit = stored.row.circuit
        circuit.clampFutureStamps(for: now)
        let rules = circuit.rules
        self.init(
            name: stored.name,
            epoch: circuit.epoch,
            state: State(circuit.state, at: now),
            hold: circuit.hold(at: now).map { Hold($0, at: now) },
            tripsInARow: circuit.tripsInARow,
            liveProbes: circuit.liveProbes(at: now, isAlive: moment.isAlive).count,
            counting: Counting(rules.trip),
            failureRate: Rate(rules.trip),
            slowRate: rules.slow.map { Rate(share: $0.share, minimumCalls: $0.minimumCalls, within: $0.window) },
            isObserving: rules.mode == .observing,
            recovery: rules.recoveryTime(afterTrips: circuit.tripsInARow, draw: 0),
            longestRecovery: rules.longestRecovery,
            failures: stored.failures(at: now).map { Failure($0, at: now) },
            refusals: stored.totals.refused,
            lastError: circuit.lastError.map(LinkText.cut),
            commands: commands
        )
        self.setSums(stored.recent)
    }

    /// Sets the sums of the calls within the windows of the rules.
    private mutating func setSums(_ rates: CallRates?) {
        guard let rates else { return }
        func sum(of calls: UInt64, bad: UInt64) -> Sum {
            Sum(calls: Int64(clamping: calls), bad: Int64(clamping: bad))
        }
        if self.failureRate != nil { self.failed = sum(of: rates.calls, bad: rates.failed) }
        if self.slowRate != nil { self.slow = sum(of: rates.slowCalls, bad: rates.slow) }
    }
}

extension LinkedCircuit.Failure {
    /// Describes a failure by its age, which is 0 for a failure ahead of `now`.
    fileprivate init(_ failure: Circuit.Failure, at now: StoreTime) {
        self.init(
            key: LinkedCircuit.Key(worker: failure.worker, number: failure.sequence),
            age: max(0, now.microseconds(since: failure.at)))
    }
}

extension LinkedCircuit.State {
    fileprivate init(_ state: Circuit.State, at now: StoreTime) {
        switch state {
        case .closed: self = .closed
        case .open(let until): self = .open(left: max(0, until.microseconds(since: now)))
        case .halfOpen: self = .halfOpen
        case .unknown: self = .unknown
        }
    }
}

extension LinkedCircuit.Counting {
    fileprivate init?(_ trip: TripRule) {
        switch trip.kind {
        case .failures(let count, let window): self.init(failures: count, window: window.saturatingMicroseconds)
        case .consecutiveFailures(let count): self.init(failures: count, window: nil)
        case .failureRate, .unknown: return nil
        }
    }
}

extension LinkedCircuit.Rate {
    fileprivate init?(_ trip: TripRule) {
        switch trip.kind {
        case .failureRate(let share, let minimum, let window):
            self.init(share: share, minimumCalls: minimum, within: window)
        case .failures, .consecutiveFailures, .unknown: return nil
        }
    }

    fileprivate init(share: Double, minimumCalls: Int, within window: Duration) {
        self.init(share: share, minimumCalls: minimumCalls, window: window.saturatingMicroseconds)
    }
}

extension LinkedCircuit.Hold {
    fileprivate init(_ hold: Circuit.Hold, at now: StoreTime) {
        self.init(
            state: hold.state,
            age: max(0, now.microseconds(since: hold.since)),
            left: hold.until.map { max(0, $0.microseconds(since: now)) },
            by: hold.by.map(LinkText.cut),
            reason: hold.reason.map(LinkText.cut)
        )
    }
}
