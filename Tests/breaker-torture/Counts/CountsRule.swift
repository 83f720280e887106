import BreakerStore

/// The rule of the circuit in the scenes that trip it.
struct CountsRule {
    var share: Double
    var minimum: Int
    /// In microseconds.
    var window: Int64

    static let circuit = "traffic"

    init(share: Double, minimum: Int, window: Int64) {
        self.share = share
        self.minimum = minimum
        self.window = window
    }

    init?(words: [String]) {
        guard words.count == 3, let share = Double(words[0]), let minimum = Int(words[1]), let window = Int64(words[2])
        else { return nil }
        self.init(share: share, minimum: minimum, window: window)
    }

    var words: [String] { ["\(self.share)", "\(self.minimum)", "\(self.window)"] }

    var tick: Int64 { max(self.window / 16, 10_000) }

    /// Within so many microseconds each process publishes its good calls, unless others ask for them before.
    var period: Int64 { min(self.tick, 50_000) }

    func register(in store: CircuitStore) throws -> CircuitBreaker {
        try store.breaker(
            .init(
                name: Self.circuit,
                trip: .failureRate(self.share, minimumCalls: self.minimum, within: .microseconds(self.window)),
                // It stays open until somebody resets it.
                recovery: RecoveryRule(timeout: .seconds(36_000), cap: .seconds(36_000))))
    }
}
