/// When a circuit opens and closes: its config without name and group.
struct Rules: Hashable, Sendable {
    var trip: TripRule
    var slow: SlowCallRule?
    var recovery: RecoveryRule
    var probes: ProbeRule
    var minimumReporters: Int
    var mode: CircuitMode
    /// False for a mode of a later release.
    var isModeKnown = true
    var stored = Stored.asRules

    /// How the stored text of the rules relates to these rules.
    enum Stored: Hashable, Sendable {
        /// The text has these rules, and nothing else.
        case asRules
        /// Members that this release does not know: they stay in the text when the rules change.
        case more(String)
        /// A text of a later release, of which this release must not apply a part: the text stays as it is.
        case ofLaterRelease(String, why: String)
        /// A text that this release can't read and that is not marked as a later release's: the next registration
        /// replaces it, except for members that this release does not know.
        case unreadable(String, why: String)
    }

    /// The config must have been validated.
    init(_ config: CircuitBreaker.Config) {
        self.trip = config.trip
        self.slow = config.slow
        self.recovery = config.recovery
        self.probes = config.probes
        self.minimumReporters = config.minimumReporters
        self.mode = config.mode
    }

    /// Whether these are the stored rules, and not a substitute for a text that can't be used.
    var areAsStored: Bool {
        switch self.stored {
        case .asRules, .more: true
        case .ofLaterRelease, .unreadable: false
        }
    }

    /// These rules, or a process's own if the stored text can't be used; the mode stays, as it has a column of its own.
    func resolved(with own: CircuitBreaker.Config) -> Rules {
        guard !self.areAsStored else { return self }
        var rules = Rules(own)
        rules.stored = self.stored
        if self.isModeKnown { rules.mode = self.mode }
        return rules
    }

    /// The rules of a config in which the user has set nothing but the name.
    static let defaults = Rules(CircuitBreaker.Config(name: ""))

    /// The rules for the in-memory fallback: one reporter is enough, because it does not know the failures of other
    /// processes.
    static func inMemory(_ rules: Rules) -> Rules {
        var rules = rules
        rules.minimumReporters = 1
        return rules
    }

    /// The number of failures that trips the circuit.
    var threshold: Int { self.trip.count ?? .max }

    var isKnown: Bool {
        switch self.trip.kind {
        case .failures, .consecutiveFailures, .failureRate: true
        case .unknown: false
        }
    }

    /// Whether each failure that counts has a row; failures under a failure-rate rule are only counted.
    var keepsFailures: Bool { self.trip.count != nil }

    /// The window of a failure-rate rule, in microseconds; nil without such a rule.
    var failureWindow: Int64? { self.trip.share == nil ? nil : self.trip.window?.saturatingMicroseconds }

    /// The longest window of a failure-rate or slow-call rule; nil without such a rule.
    var longestRateWindow: Int64? {
        [self.failureWindow, self.slow?.window.saturatingMicroseconds].compactMap(\.self).max()
    }

    /// Whether a success forgets the failures.
    var isConsecutive: Bool {
        switch self.trip.kind {
        case .failures, .failureRate, .unknown: false
        case .consecutiveFailures: true
        }
    }

    /// The longest time that a circuit with these rules stays open: a recovery, or a declared outage.
    var longestRecovery: Int64 {
        let ceiling = Double(self.ceiling)
        let recovery = Int64(saturating: ceiling + ceiling * self.recovery.jitter)
        return max(1, recovery, self.recovery.outageCap.saturatingMicroseconds)
    }

    /// The longest recovery without jitter: the cap limits the multiplied time, but never shortens the recovery time
    /// itself.
    private var ceiling: Int64 { max(self.recovery.cap, self.recovery.timeout).saturatingMicroseconds }

    /// How long the circuit stays open for a declared outage of this time: at most `outageCap`.
    func outageTime(_ named: Int64) -> Int64 {
        min(max(0, named), max(0, self.recovery.outageCap.saturatingMicroseconds))
    }

    /// How long the circuit stays open after `trips` earlier trips in a row.
    ///
    /// - Parameter draw: a random number in `0..<1`, for the jitter.
    func recoveryTime(afterTrips trips: Int, draw: Double) -> Int64 {
        let ceiling = Double(self.ceiling)
        var time = Double(self.recovery.timeout.saturatingMicroseconds)
        if self.recovery.multiplier > 1, time > 0 {
            // Exponentiation by squaring: a row may have any number of trips, and a multiplier near 1 reaches the cap
            // only after very many.
            var factor = self.recovery.multiplier
            var remaining = trips
            while remaining > 0, time < ceiling {
                if !remaining.isMultiple(of: 2) { time *= factor }
                factor *= factor
                remaining /= 2
            }
        }
        time = min(time, ceiling)
        return max(1, Int64(saturating: time + time * self.recovery.jitter * draw))
    }
}
