import BreakerStore

/// Decides how long a refused call waits within its budget (`--wait`): a pure value.
///
/// The call waits for the end of an open state and for a busy probe, never for the end of a hold. What can't be met
/// within the budget is refused at once. Callers that wait for the end of a declared outage try at random times within
/// a tenth of it, so that not all try at once.
struct Waiting: Sendable {
    enum Step: Hashable, Sendable {
        case tryNow
        case refuse
        /// Read the circuit again after this time.
        case readAgain(after: Duration)
    }

    /// When this call may try an open circuit.
    private struct Attempt {
        /// The open state, as `AwaitedCircuit` identifies it.
        var openEnd: Int64
        /// The uptime at which the open state ends.
        var openEnds: Duration
        /// The uptime at which this call tries: at that end or later.
        var tries: Duration
    }

    /// The longest time after the end of an outage within which the callers try.
    private static let maxSpread = Duration.seconds(30)
    /// How often the circuit is read while it is open: an operator may reset it.
    private static let interval = Duration.milliseconds(100)
    /// How often while its probes run.
    private static let probingInterval = Duration.milliseconds(25)

    /// The uptime at which the budget is over.
    let end: Duration
    private var attempt: Attempt?

    init(until end: Duration) { self.end = end }

    /// Decides what to do about the circuit as it is now.
    ///
    /// - Parameters:
    ///   - circuit: what was just read.
    ///   - outage: how long the declared outage lasts by which the circuit is open; nil if none was declared.
    ///   - now: the uptime.
    ///   - draw: a random number in `0..<1`.
    mutating func next(
        _ circuit: AwaitedCircuit, declared outage: Duration? = nil, at now: Duration, draw: Double
    ) -> Step {
        switch circuit {
        case .held: return .refuse
        case .open(let openEnd, let remaining):
            if let attempt = self.attempt, attempt.openEnd == openEnd {
                // Only if the store's clock was set is it still open when the call may try.
                guard now < max(attempt.tries, self.end) else { return .refuse }
                return self.wait(until: max(attempt.tries, now + remaining), at: now)
            }
            let openEnds = now + remaining
            guard openEnds <= self.end else { return .refuse }
            let spread = outage.map { min($0 / 10, Self.maxSpread, self.end - openEnds) * draw } ?? .zero
            self.attempt = Attempt(openEnd: openEnd, openEnds: openEnds, tries: openEnds + spread)
            return self.wait(until: openEnds + spread, at: now)
        case .admits:
            // If an operator has reset the circuit before the end of the outage, nothing is left to wait for.
            guard let attempt = self.attempt, now >= attempt.openEnds, now < attempt.tries else { return .tryNow }
            return self.wait(until: attempt.tries, at: now)
        case .probing:
            if let attempt = self.attempt, now < attempt.tries { return self.wait(until: attempt.tries, at: now) }
            guard now < self.end else { return .refuse }
            return .readAgain(after: min(Self.probingInterval, self.end - now))
        }
    }

    private func wait(until time: Duration, at now: Duration) -> Step {
        now >= time ? .tryNow : .readAgain(after: min(Self.interval, time - now))
    }
}
