import BreakerTestSupport
import Dispatch
import Testing

@testable import BreakerStore

/// Somebody else has the file locked.
///
/// Real time: the waits for other processes go by it.
@Suite(.timeLimit(.minutes(10))) struct BusyFileTests {
    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture(busyTimeout: .milliseconds(300)) }

    @Test(arguments: [true, false]) func callsComeBackAndTheStoreRecovers(_ isAsync: Bool) async throws {
        let breaker = try self.fixture.breaker()
        try await breaker.run {}
        let writer = try WriteLock(self.fixture.store)
        var runs = 0
        // The lock is held until the call has come back: one without a deadline would hang.
        if isAsync {
            _ = try? await breaker.run {
                runs += 1
                throw CallFailure()
            }
        } else {
            synchronously {
                _ = try? breaker.run {
                    runs += 1
                    throw CallFailure()
                }
            }
        }
        #expect(runs == 1)
        #expect(await eventually { !self.fixture.isHealthy })
        // Nobody else waits.
        for _ in 0..<100 { try await breaker.run { runs += 1 } }
        #expect(runs == 101)
        try writer.release()
        #expect(await eventually { self.fixture.isHealthy })
        // What memory kept is told to the file, once.
        #expect(await eventually { breaker.failureCount == 1 })
        await breaker.recordFailure()
        #expect(await eventually { breaker.failureCount == 2 })
    }

    /// A failure that counts nowhere is not worth a transaction, for which others would wait.
    @Test(arguments: [true, false]) func lateFailuresOfAnOpenCircuitCommitNothing(isAsync: Bool) async throws {
        let breaker = try self.fixture.breaker()
        try self.fixture.store.patiently { try $0.hold("a", .open) }
        let writer = try WriteLock(self.fixture.store)
        for _ in 0..<10 {
            if isAsync { await breaker.recordFailure() } else { synchronously { breaker.recordFailure() } }
        }
        #expect(self.fixture.isHealthy)
        try writer.release()
    }

    /// Who leads must not wait for those who come after it.
    @Test func newcomersDoNotKeepTheLeaderWaiting() async throws {
        let core = try #require(self.fixture.core)
        let writer = try WriteLock(self.fixture.store)
        let locks = HeldLocks(.lead, of: core)
        let deadline = Deadline(after: .seconds(2))
        // On threads of their own: other tests may block the pool's.
        DispatchQueue(label: "newcomer").async {
            while core.waitingCount == 0, !deadline.isOver { Deadline(after: .milliseconds(1)).sleep() }
            core.post(until: Deadline(after: .forEver)) { _ in }
            locks.letGo()
        }
        // The file is locked until the leader has come back: with the newcomer's patience it would hang.
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "leader").async {
                try? core.commit(until: deadline) { _ in }
                continuation.resume()
            }
        }
        #expect(await eventually { !self.fixture.isHealthy })
        try writer.release()
        #expect(await eventually { self.fixture.isHealthy })
    }

    /// Others use the file by turns: who looks for a moment, and then waits longer and longer, may look in vain for
    /// long.
    @Test func whoComesBackWaitsForItsTurn() async throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let writer = try WriteLock(fixture.store)
        core.lose(.busy(core.file.path))
        var looks = 0
        #expect(
            await eventually {
                let isWaiting = core.isThreadLeading
                looks = isWaiting ? looks + 1 : 0
                return looks == 20
            }
        )
        #expect(!fixture.isHealthy)
        try writer.release()
        #expect(await eventually { fixture.isHealthy })
    }

    /// A store that has nothing to write does not mind.
    @Test func aLockThatNobodyWaitsForIsNoTrouble() async throws {
        let core = try #require(self.fixture.core)
        let writer = try WriteLock(self.fixture.store)
        #expect(core.update { $0.acquireLeadForThread() })
        core.thread.wake()
        #expect(await eventually { !core.isThreadLeading })
        #expect(self.fixture.isHealthy)
        try writer.release()
    }

    /// Sixteen callers of both kinds, while the lock comes and goes.
    @Test func nothingDeadlocks() async throws {
        let breaker = try self.fixture.breaker(trip: .failures(10_000, within: .seconds(60)))
        let runs = CircuitCounters()
        let calls = Task {
            await withTaskGroup { group in
                for number in 0..<16 {
                    group.addTask {
                        for _ in 0..<20 {
                            if number.isMultiple(of: 4) {
                                synchronously {
                                    _ = try? breaker.run {
                                        runs.add()
                                        throw CallFailure()
                                    }
                                }
                            } else {
                                _ = try? await breaker.run {
                                    runs.add()
                                    throw CallFailure()
                                }
                            }
                        }
                    }
                }
            }
        }
        for _ in 0..<4 {
            let writer = try WriteLock(self.fixture.store)
            try? await Task.sleep(for: .milliseconds(150))
            try writer.release()
            try? await Task.sleep(for: .milliseconds(20))
        }
        await calls.value
        #expect(runs.count == 16 * 20)
        #expect(await eventually { self.fixture.isHealthy })
    }
}
