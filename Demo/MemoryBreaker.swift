/// What a worker without the store has: a breaker with the same rules, in the memory of its process.
struct MemoryBreaker {
    /// The breaker is open; the call was not made.
    struct Refusal: Error {}

    private var failures: [Moment] = []
    private var openUntil: Moment?
    private var tripsInARow = 0

    mutating func run(_ operation: () throws -> Void) throws {
        if let until = self.openUntil, Moment.now < until { throw Refusal() }
        do {
            try operation()
        } catch {
            self.failed(at: Moment.now)
            throw error
        }
        if self.openUntil != nil { self = MemoryBreaker() }
    }

    private mutating func failed(at now: Moment) {
        let wasProbe = self.openUntil != nil
        self.failures.removeAll { $0 + Rules.window < now }
        self.failures.append(now)
        guard wasProbe || self.failures.count >= Rules.maxFailures else { return }
        let factor = (0..<self.tripsInARow).reduce(1) { product, _ in product * Rules.multiplier }
        self.openUntil = now + Rules.recovery * factor
        self.tripsInARow += 1
    }
}
