/// A circuit's config in whole microseconds: decides when the circuit opens and closes.
struct Rules: Hashable, Sendable {
    enum Trip: Hashable, Sendable {
        case failures(Int, window: Int64)
        case consecutiveFailures(Int)
        case failureRate(CallShare, window: Int64)
        /// A rule of a later version: this version does not trip by the rule, and keeps it as it is.
        case unknown(String, count: Int, window: Int64)
    }

    /// A rule about slow calls: those that take longer than the threshold.
    struct Slow: Hashable, Sendable {
        var threshold: Int64
        var share: CallShare
        var window: Int64
    }

    var trip: Trip
    var slow: Slow?
    var recovery: Int64
    var multiplier: Double
    var cap: Int64
    var jitter: Double
    var probeLimit: Int
    var successesToClose: Int
    var lease: Int64
    var minimumReporters: Int
    var isObserving = false

    /// The number of failures that trips the circuit.
    var threshold: Int {
        switch self.trip {
        case .failures(let count, window: _): count
        case .consecutiveFailures(let count): count
        case .failureRate, .unknown: .max
        }
    }

    var isKnown: Bool {
        switch self.trip {
        case .failures, .consecutiveFailures, .failureRate: true
        case .unknown: false
        }
    }

    /// Whether each failure that counts has a row; failures under a rule about shares are only counted.
    var keepsFailures: Bool {
        switch self.trip {
        case .failures, .consecutiveFailures: true
        case .failureRate, .unknown: false
        }
    }

    /// The longest window of a rule about shares; nil without such a rule.
    var longestShareWindow: Int64? {
        let trip: Int64? = if case .failureRate(_, let window) = self.trip { window } else { nil }
        return [trip, self.slow?.window].compactMap(\.self).max()
    }

    /// Whether a success forgets the failures.
    var isConsecutive: Bool {
        switch self.trip {
        case .failures, .failureRate, .unknown: false
        case .consecutiveFailures: true
        }
    }

    /// The longest time that a circuit with these rules stays open.
    var longestRecovery: Int64 {
        let ceiling = Double(max(self.cap, self.recovery))
        return max(1, Int64(saturating: ceiling + ceiling * self.jitter))
    }

    /// How long the circuit stays open when the service has named a time: at most the cap, or the recovery time if that
    /// is longer.
    func outageTime(_ named: Int64) -> Int64 { min(max(0, named), max(0, self.cap, self.recovery)) }

    /// How long the circuit stays open after `trips` earlier trips in a row.
    ///
    /// The cap limits the multiplied time; it never shortens the recovery time itself.
    /// - Parameter draw: a random number in `0..<1`, for the jitter.
    func recoveryTime(afterTrips trips: Int, draw: Double) -> Int64 {
        let ceiling = Double(max(self.cap, self.recovery))
        var time = Double(self.recovery)
        if self.multiplier > 1, time > 0 {
            // By squaring: a row may hold any number of trips, and a multiplier near 1 reaches the cap only after very
            // many.
            var factor = self.multiplier
            var remaining = trips
            while remaining > 0, time < ceiling {
                if !remaining.isMultiple(of: 2) { time *= factor }
                factor *= factor
                remaining /= 2
            }
        }
        time = min(time, ceiling)
        return max(1, Int64(saturating: time + time * self.jitter * draw))
    }
}
