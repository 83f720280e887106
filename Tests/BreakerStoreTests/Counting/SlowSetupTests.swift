import BreakerTestSupport
import Testing

@testable import BreakerStore

/// The thread that counts waits for no lock and no disk: other processes would miss its successes meanwhile.
@Suite(.timeLimit(.minutes(10))) struct SlowSetupTests {
    private static let rule = TripRule.failureRate(0.5, minimumCalls: 1_000, within: .seconds(60))

    private static func succeeded(_ core: StoreCore) -> [UInt64] {
        (BoardReader(at: core.file.board)?.totals() ?? [:]).values.map(\.succeeded).sorted()
    }

    /// Another process holds the setup lock for long, so a new circuit gets no cells: its calls wait for them, and the
    /// calls of other circuits are published all the same.
    @Test func aNewCircuitKeepsNoOtherFromBeingPublished() async throws {
        let fixture = try StoreFixture(busyTimeout: .seconds(600))
        let core = try #require(fixture.core)
        let known = try fixture.breaker("known", trip: Self.rule)
        await #expect(throws: CallFailure.self) { try await known.run { throw CallFailure() } }
        let setup = try ForeignGuard(of: core.file.path)
        let new = try fixture.breaker("new", trip: Self.rule)
        for _ in 0..<7 { try await new.run {} }
        for _ in 0..<100 { try await known.run {} }
        #expect(await eventually { Self.succeeded(core) == [100] })
        setup.letGo()
        #expect(await eventually { Self.succeeded(core) == [7, 100] })
    }
}
