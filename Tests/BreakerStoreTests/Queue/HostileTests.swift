import Dispatch
import Synchronization
import Testing

@testable import BreakerStore

/// What one who is in the way may cost others.
@Suite(.timeLimit(.minutes(1))) struct HostileTests {
    @Test func aProbesSlotThatWasDiscardedWhileTheFileWasAwayIsFree() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(100))
        let breaker = try fixture.breaker()
        for _ in 0..<3 { await breaker.recordFailure() }
        fixture.clock.advance(by: .seconds(30))
        let permit = try await breaker.admit()
        let lock = try WriteLock(fixture.store)
        #expect(throws: BreakerStoreError.self) { try fixture.store.reset("another") }
        permit.discard()
        try lock.release()
        #expect(await eventually { fixture.isHealthy })
        #expect(await eventually { breaker.isCallPermitted })
    }
}
