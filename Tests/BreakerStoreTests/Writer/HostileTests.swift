import BreakerTestSupport
import Dispatch
import Testing

@testable import BreakerStore

/// What one who is in the way may cost others.
@Suite(.timeLimit(.minutes(10))) struct HostileTests {
    /// The setup lock is held by a process that opens the store, and is slow or stopped: a checkpoint can wait, reports
    /// can't.
    @Test func aCheckpointThatMustWaitKeepsNobodyWaiting() throws {
        let fixture = try StoreFixture(busyTimeout: .forEver)
        let breaker = try fixture.breaker(trip: .failures(100_000, within: .seconds(60)))
        let core = try #require(fixture.core)
        let other = try LockFile(path: core.file.lock, creatingWith: nil, owner: nil)
        // The setup lock is held until all reports are made: one that waited for a checkpoint would hang.
        try other.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
            for _ in 0..<400 { synchronously { breaker.recordFailure() } }
            synchronously { breaker.recordFailure() }
        }
        #expect(breaker.failureCount == 401)
    }

    @Test func aProbesSlotThatWasDiscardedWhileTheFileWasAwayIsFree() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(300))
        let breaker = try fixture.breaker()
        // On this thread, which commits however long that takes: a task would wait for its deadline only.
        for _ in 0..<3 { synchronously { breaker.recordFailure() } }
        fixture.clock.advance(by: .seconds(30))
        let permit = try synchronously { try breaker.admit() }
        let lock = try WriteLock(fixture.store)
        #expect(throws: BreakerStoreError.self) { try fixture.store.reset("another") }
        permit.discard()
        try lock.release()
        #expect(await eventually { fixture.isHealthy })
        #expect(await eventually { breaker.isCallPermitted })
    }

    @Test func anEventWithAnyNumberIsNoTrap() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        let connection = Foreign(fixture.store.backend.file.path, keepsLog: true)
        connection.run("DELETE FROM event; INSERT INTO event (id, kind, at) VALUES (\(Int64.min), 'reset', 0)")
        let seen = CircuitCounters()
        let events = fixture.store.events()
        let task = Task { for await _ in events { seen.add() } }
        connection.run("INSERT INTO event (id, kind, at) VALUES (\(Int64.max), 'reset', 0)")
        #expect(await eventually { seen.count > 0 })
        task.cancel()
        withExtendedLifetime(breaker) {}
    }
}
