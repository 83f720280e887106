import BreakerTestSupport
import Testing

@testable import BreakerStore

/// The reports of tasks are committed by the store's thread: no thread of the pool waits for a disk or another process.
@Suite(.timeLimit(.minutes(10))) struct TaskReportTests {
    @Test func rowThatCantBeReadIsRepaired() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        let path = fixture.store.backend.file.path
        Foreign.run(
            path, "PRAGMA ignore_check_constraints = ON; UPDATE circuit SET trips = -7", keepsLog: true)
        for _ in 0..<3 { await Task.detached { await breaker.recordFailure() }.value }
        #expect(fixture.isHealthy)
        #expect(!breaker.isCallPermitted)
    }

    /// The store's thread may have replaced a lost file before the task learns that its report was not committed.
    @Test(arguments: [false, true]) func aReportOfALostFileCountsInTheNewOne(isKeptFirst: Bool) throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let breaker = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        let report = breaker.newReport(7, Outcome(verdict: .failure))
        let kept = PendingReport(circuit: breaker.circuit, report: .failed(report), uptime: 0)
        if isKeptFirst { core.outbox.keep(kept) }
        core.outbox.fileReplaced()
        if !isKeptFirst { core.outbox.keep(kept) }
        let found = core.outbox.drainReports().map { if case .failedUnread = $0.report { true } else { false } }
        #expect(found == [true])
    }

    #if BREAKERSTORE_HOOKS
    /// A trip is told once it is synced.
    @Test func tripIsSyncedBeforeItIsReported() async {
        await #expect(processExitsWith: .success) {
            let store = try StoreFixture.makeStore()
            let core = try #require(store.backend.core)
            let breaker = try store.breaker(.init(name: "a", trip: .failures(2, within: .seconds(60))))
            let told = Locked(false)
            let seen = Locked<[String]>([])
            Hook.install { name in
                guard name == "commit.done" || name == "sync.begin" else { return }
                let thread = core.isThreadLeading ? "thread" : "caller"
                let isTold = told.withLock { $0 }
                seen.withLock { $0.append("\(name) \(thread)\(isTold ? " told" : "")") }
            }
            for _ in 0..<2 {
                await Task.detached {
                    await breaker.recordFailure()
                    told.withLock { $0 = true }
                }.value
                told.withLock { $0 = false }
            }
            Hook.install(nil)
            #expect(seen.withLock { $0 } == ["commit.done thread", "commit.done thread", "sync.begin thread"])
            #expect(!breaker.isCallPermitted)
            store.close()
        }
    }
    #endif
}
