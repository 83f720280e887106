import BreakerStore

/// Decides how long a refused call waits within its budget (`--wait`): a pure value.
///
/// The call waits for the end of an open state and for a busy probe, never for the end of a hold. What can't be met
/// within the budget is refused at once. Those who wait for the end of an outage that a provider declares are spread
/// over a tenth of the outage, so that they do not all come at its end.
struct Waiting: Sendable {
    enum Step: Hashable, Sendable {
        case tryNow
        case refuse
        /// Look at the circuit again after this time.
        case look(after: Duration)
    }

    /// When this call may try an open circuit.
    private struct Turn {
        /// The end of the open state, as `AwaitedCircuit` names it.
        var until: Int64
        /// The uptime at which the open state ends.
        var opens: Duration
        /// The uptime at which this call tries: at that end or later.
        var comes: Duration
    }

    /// The spread's longest time.
    private static let longestSpread = Duration.seconds(30)
    /// How often the circuit is looked at while it is open: an operator may reset it.
    private static let interval = Duration.milliseconds(100)
    /// How often while its probes run.
    private static let probingInterval = Duration.milliseconds(25)

    /// The uptime at which the budget is over.
    let end: Duration
    private var turn: Turn?

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
        case .open(let until, let remaining):
            if let turn = self.turn, turn.until == until {
                // Only if the store's clock was set is it still open when its turn has come.
                guard now < max(turn.comes, self.end) else { return .refuse }
                return self.wait(until: max(turn.comes, now + remaining), at: now)
            }
            let opens = now + remaining
            guard opens <= self.end else { return .refuse }
            let spread = outage.map { min($0 / 10, Self.longestSpread, self.end - opens) * draw } ?? .zero
            self.turn = Turn(until: until, opens: opens, comes: opens + spread)
            return self.wait(until: opens + spread, at: now)
        case .admits:
            // An operator has reset the circuit before the end of the outage: nothing is left to wait for.
            guard let turn = self.turn, now >= turn.opens, now < turn.comes else { return .tryNow }
            return self.wait(until: turn.comes, at: now)
        case .probing:
            if let turn = self.turn, now < turn.comes { return self.wait(until: turn.comes, at: now) }
            guard now < self.end else { return .refuse }
            return .look(after: min(Self.probingInterval, self.end - now))
        }
    }

    private func wait(until time: Duration, at now: Duration) -> Step {
        now >= time ? .tryNow : .look(after: min(Self.interval, time - now))
    }
}
