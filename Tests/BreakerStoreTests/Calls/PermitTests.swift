import BreakerStore
import BreakerTestSupport
import Testing

/// Permits, and what becomes of a probe's slot.
@Suite(.timeLimit(.minutes(10))) struct PermitTests {
    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture() }

    @Test func theFirstReportCounts() async throws {
        let breaker = try self.fixture.breaker()
        let permit = try await breaker.admit()
        await permit.fail()
        await permit.fail()
        await permit.succeed()
        permit.discard()
        #expect(breaker.failureCount == 1)
        let other = try await breaker.admit()
        await other.succeed()
        await other.fail()
        #expect(breaker.failureCount == 1)
    }

    /// For event loops: nothing waits, and the file knows soon.
    @Test func aLaterReportIsCommittedByTheStoresThread() async throws {
        let breaker = try self.fixture.breaker()
        try await breaker.admit().failLater(CallFailure())
        #expect(await eventually { breaker.failureCount == 1 })
        let permit = try await breaker.admit()
        permit.succeedLater()
        permit.failLater()
        #expect(await eventually { (try? self.fixture.store.circuit(named: "a")?.lastError) == "CallFailure" })
        let before = self.fixture.commits
        try await breaker.admit().succeedLater()
        #expect(self.fixture.commits == before)
        #expect(breaker.failureCount == 1)
    }

    /// The threads that go on with a later report commit for all: the policy's code must not keep them.
    @Test func thePolicyDescribesALaterFailureForTheCaller() async throws {
        let isReporting = Locked(false)
        let elsewhere = Locked(0)
        let policy = CallPolicy(
            classify: { _ in .outage(for: .seconds(1)) },
            describe: { _ in
                if !isReporting.withLock({ $0 }) { elsewhere.withLock { $0 += 1 } }
                return "down"
            })
        let breaker = try self.fixture.breaker(
            trip: .failureRate(0.5, minimumCalls: 100, within: .seconds(60)), calls: policy)
        let permit = try await breaker.admit()
        isReporting.withLock { $0 = true }
        permit.failLater(CallFailure())
        isReporting.withLock { $0 = false }
        #expect(await eventually { breaker.totals.failed == 1 && breaker.state.isOpen })
        #expect(elsewhere.withLock { $0 } == 0)
    }

    @Test func aProbesLaterReportDecides() async throws {
        let breaker = try await self.fixture.dueBreaker()
        try await breaker.admit().failLater(CallFailure())
        #expect(await eventually { if case .open = breaker.state { true } else { false } })
        self.fixture.clock.advance(by: .seconds(30))
        try await breaker.admit().succeedLater()
        #expect(await eventually { breaker.state == .closed })
    }

    /// While another process has the file locked, the caller does not wait, and the failure is not lost.
    @Test func aLaterReportDoesNotWaitForALockedFile() async throws {
        let breaker = try self.fixture.breaker()
        let permit = try await breaker.admit()
        let lock = try WriteLock(self.fixture.store)
        permit.failLater(CallFailure())
        #expect(breaker.failureCount == 0)
        try lock.release()
        #expect(await eventually { breaker.failureCount == 1 })
    }

    enum NoVerdict: CaseIterable {
        case discarded, freed, ignoredError, cancelled, cancelledTimed
    }

    @Test(arguments: NoVerdict.allCases)
    func withoutAVerdictTheSlotIsFree(_ ending: NoVerdict) async throws {
        var calls = CallPolicy()
        calls.classify = { _ in .ignored }
        if ending == .cancelledTimed { calls.timeout = .seconds(30) }
        let breaker = try await self.fixture.dueBreaker()
        let ignoring = try self.fixture.store.breaker(breaker.config, calls: calls)
        switch ending {
        case .discarded:
            let permit = try await ignoring.admit()
            await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
            permit.discard()
        case .freed:
            _ = try await ignoring.admit()
        case .ignoredError:
            await #expect(throws: CallFailure.self) { try await ignoring.run { throw CallFailure() } }
        case .cancelled, .cancelledTimed:
            let task = Task { try await ignoring.run { try await Task.sleep(for: .seconds(3_600)) } }
            #expect(await eventually { breaker.state == .halfOpen })
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        // A discarded permit's slot is freed by the store's thread.
        #expect(await eventually { breaker.isCallPermitted })
        #expect(breaker.state == .halfOpen)
        try await breaker.run {}
        #expect(breaker.state == .closed)
    }

    @Test func aFreedPermitOfAClosedCircuitCountsNothing() async throws {
        let breaker = try self.fixture.breaker()
        let before = self.fixture.commits
        _ = try await breaker.admit()
        (try await breaker.admit()).discard()
        #expect(self.fixture.commits == before)
        #expect(breaker.failureCount == 0)
    }

    /// Sixteen tasks at once for one slot.
    @Test func onlyOneOfManyGetsTheSlot() async throws {
        let breaker = try await self.fixture.dueBreaker()
        let barrier = Barrier(16)
        let permits = await withTaskGroup(of: CallPermit?.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    await barrier.arrive()
                    return try? await breaker.admit()
                }
            }
            return await group.reduce(into: [CallPermit]()) { if let permit = $1 { $0.append(permit) } }
        }
        #expect(permits.count == 1)
    }
}
