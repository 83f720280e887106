import BreakerTestSupport
import Testing

@testable import BreakerStore

/// When tasks that wait for a commit go on without it, and what stays behind of them.
///
/// Real time: the waits for other processes go by it.
@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
    enum Obstacle: CaseIterable {
        case fileIsLocked, commitHangs
    }

    private final class Content: Sendable {}

    /// Two stores of one process have one core, and so one queue.
    @Test(arguments: Obstacle.allCases) func aShortDeadlineIsKeptBehindALongOne(_ obstacle: Obstacle) async throws {
        let fixture = try StoreFixture(busyTimeout: .forEver)
        let core = try #require(fixture.core)
        let patient = try fixture.breaker()
        var configuration = fixture.store.configuration
        configuration.busyTimeout = .milliseconds(200)
        let other = try CircuitStore(path: fixture.store.backend.file.path, configuration: configuration)
        let hasty = try other.breaker(patient.config)
        let writer = try WriteLock(fixture.store)
        let locks = obstacle == .commitHangs ? HeldLocks(.lead, of: core) : nil
        let first = Task { await patient.recordFailure() }
        #expect(await eventually { core.waitingCount == 1 })
        // Both obstacles stay until it has come back: with the other one's deadline it would hang.
        await hasty.recordFailure()
        #expect(!other.isHealthy)
        locks?.letGo()
        try writer.release()
        await first.value
        #expect(await eventually { fixture.isHealthy })
        #expect(await eventually { patient.failureCount == 2 })
        other.close()
    }

    @Test func whatIsDoneIsReleasedLongBeforeItsDeadline() async throws {
        let fixture = try StoreFixture(busyTimeout: .forEver)
        let core = try #require(fixture.core)
        weak var content: Content?
        do {
            let strong = Content()
            content = strong
            try await core.commit(until: Deadline(after: .forEver)) { [strong] _ in _ = strong }
        }
        #expect(await eventually { content == nil })
    }

    @Test func aClosedStoreIsReleasedLongBeforeTheDeadlineOfItsReports() async throws {
        weak var core: StoreCore?
        do {
            let fixture = try StoreFixture(busyTimeout: .forEver)
            core = fixture.core
            await (try fixture.breaker()).recordFailure()
        }
        #expect(await eventually { core == nil })
    }

    /// Each of many reports comes a little later than the one before: none needs a timer of its own.
    @Test func manyReportsShareATimer() async throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let breaker = try fixture.breaker(trip: .failures(10_000, within: .seconds(60)))
        // Nobody commits meanwhile: all of them wait.
        let locks = HeldLocks(.lead, of: core)
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { await breaker.recordFailure() } }
            #expect(await eventually { core.waitingCount == 100 })
            #expect(await eventually { core.sharedTimer.value.count == 100 })
            // Those that come in another order than their deadlines may need one more.
            #expect(core.sharedTimer.value.sleepers < 50)
            locks.letGo()
        }
    }
}
