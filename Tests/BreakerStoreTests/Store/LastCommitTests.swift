import Testing

@testable import BreakerStore

/// What a process remembers of its last commit, in place of reading.
@Suite(.timeLimit(.minutes(1))) struct LastCommitTests {
    private let fixture: StoreFixture
    private let core: StoreCore

    init() throws {
        self.fixture = try StoreFixture()
        self.core = try #require(self.fixture.core)
    }

    private func verdict(_ breaker: CircuitBreaker) -> CachedAnswer.Verdict {
        breaker.circuit.slot.ask(self.fixture.store.gate).verdict
    }

    @Test func theNextCallHasItsAnswer() throws {
        let breaker = try self.fixture.breaker(trip: .failures(3, within: .seconds(60)))
        breaker.recordFailure()
        #expect(self.verdict(breaker) == .proceed)
        breaker.recordFailure()
        #expect(self.verdict(breaker) == .proceed)
        breaker.recordFailure()
        #expect(self.verdict(breaker) == .open)
    }
}
