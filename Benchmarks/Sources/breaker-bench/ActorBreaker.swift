/// An ordinary circuit breaker in memory, as many programs have one: what a healthy call is compared with.
actor ActorBreaker {
    struct Refused: Error {}

    private enum State {
        case closed
        case open(until: ContinuousClock.Instant)
        case halfOpen
    }

    private let threshold: Int
    private let recovery: Duration
    private var state = State.closed
    private var failures = 0

    init(threshold: Int, recovery: Duration) {
        self.threshold = threshold
        self.recovery = recovery
    }

    func run<T: Sendable>(_ operation: @Sendable () async throws -> T) async throws -> T {
        switch self.state {
        case .closed, .halfOpen: break
        case .open(let until):
            guard until <= .now else { throw Refused() }
            self.state = .halfOpen
        }
        do {
            let value = try await operation()
            self.failures = 0
            self.state = .closed
            return value
        } catch {
            self.failures += 1
            if self.failures >= self.threshold { self.state = .open(until: .now + self.recovery) }
            throw error
        }
    }
}
