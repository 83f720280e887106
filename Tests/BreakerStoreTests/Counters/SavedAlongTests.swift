import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Commits that happen anyway take the totals along.
@Suite(.timeLimit(.minutes(10))) struct SavedAlongTests {
    private let fixture: StoreFixture
    private let core: StoreCore

    init() throws {
        self.fixture = try StoreFixture()
        self.core = try #require(self.fixture.core)
    }

    private func saved(_ column: String) -> String? {
        Foreign.value(self.fixture.store.backend.file.path, "SELECT coalesce(sum(\(column)), 0) FROM counters")
    }

    /// Good calls of one circuit, none of which the file knows.
    private func call(_ count: Int) async throws {
        let breaker = try self.fixture.breaker("healthy")
        for _ in 0..<count { try await breaker.run {} }
        self.core.publishAllCounts()
        #expect(breaker.totals.succeeded == count)
    }

    @Test func aTripTakesThemAlong() async throws {
        try await self.call(7)
        let before = self.fixture.commits
        let other = try self.fixture.breaker(trip: .failures(2, within: .seconds(60)))
        await other.recordFailure()
        #expect(self.saved("succeeded") == "0")
        self.fixture.clock.advance(by: .seconds(1))
        await other.recordFailure()
        #expect(other.state.isOpen)
        #expect(self.saved("succeeded") == "7")
        // The registration, two failures.
        #expect(self.fixture.commits == before + 3)
    }

    @Test func aRegistrationTakesThemAlong() async throws {
        try await self.call(7)
        self.fixture.clock.advance(by: .seconds(1))
        _ = try self.fixture.breaker("another")
        #expect(self.saved("succeeded") == "7")
    }

    /// A storm of trips does not save at each trip.
    @Test func theyAreTakenAlongOnceASecond() async throws {
        let trips = try (0..<3).map {
            try self.fixture.breaker("trip-\($0)", trip: .failures(1, within: .seconds(60)))
        }
        try await self.call(1)
        self.fixture.clock.advance(by: .seconds(1))
        await trips[0].recordFailure()
        #expect(self.saved("succeeded") == "1")
        for _ in 0..<3 { try await self.fixture.breaker("healthy").run {} }
        self.core.publishAllCounts()
        await trips[1].recordFailure()
        #expect(self.saved("succeeded") == "1")
        self.fixture.clock.advance(by: .seconds(1))
        await trips[2].recordFailure()
        #expect(self.saved("succeeded") == "4")
    }

    /// The commit that takes them along fails: they wait for the next one.
    @Test func whatWasNotCommittedIsSavedLater() async throws {
        try await self.call(7)
        self.fixture.clock.advance(by: .seconds(1))
        struct Refused: Error {}
        await #expect(throws: BreakerStoreError.self) {
            try await self.core.commit(until: Deadline(after: .hangLimit)) { (transaction) throws(BreakerStoreError) in
                try transaction.register(.init(name: "never"))
                throw BreakerStoreError(code: .invalidConfiguration, message: "refused by the test", path: nil)
            }
        }
        self.fixture.clock.advance(by: .seconds(1))
        _ = try self.fixture.breaker("another")
        #expect(self.saved("succeeded") == "7")
    }
}
