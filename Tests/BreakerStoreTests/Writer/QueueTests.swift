import BreakerTestSupport
import Dispatch
import Testing

@testable import BreakerStore

/// The queue of reports in front of the file.
@Suite(.timeLimit(.minutes(10))) struct QueueTests {
    private let fixture: StoreFixture
    private let core: StoreCore

    init() throws {
        self.fixture = try StoreFixture()
        self.core = try #require(self.fixture.core)
    }

    private var farAway: Deadline { Deadline(after: .hangLimit) }

    @Test func everyReportOfTasksAndThreadsCountsOnce() async throws {
        let breaker = try self.fixture.breaker(trip: .failures(10_000, within: .seconds(60)))
        let threads = DispatchGroup()
        for _ in 0..<8 {
            DispatchQueue(label: "caller").async(group: threads) {
                for _ in 0..<10 { _ = try? breaker.run { throw CallFailure() } }
            }
        }
        await withTaskGroup { group in
            for _ in 0..<64 {
                group.addTask {
                    for _ in 0..<3 { _ = try? await breaker.run { throw CallFailure() } }
                    await breaker.recordFailure()
                }
            }
        }
        await withCheckedContinuation { continuation in
            threads.notify(queue: .global()) { continuation.resume() }
        }
        #expect(breaker.failureCount == 8 * 10 + 64 * 4)
        #expect(self.fixture.isHealthy)
    }

    @Test func whatWaitsIsCommittedTogether() async throws {
        let breaker = try self.fixture.breaker(trip: .failures(10_000, within: .seconds(60)))
        let before = self.fixture.commits
        let locks = HeldLocks(.lead, of: self.core)
        let began = CircuitCounters()
        let tasks = (0..<64).map { _ in
            Task {
                began.add()
                await breaker.recordFailure()
            }
        }
        #expect(await eventually { began.count == 64 })
        // The last of them may still be on their way into the queue.
        locks.letGo()
        for task in tasks { await task.value }
        #expect(breaker.failureCount == 64)
        #expect((1...16).contains(self.fixture.commits - before))
    }

    /// The task's body has set the mark at its cancellation; only then is the file free.
    @Test func aCancelledTaskWithdrawsNoReport() async throws {
        let breaker = try self.fixture.breaker()
        let locks = HeldLocks(.lead, of: self.core)
        let ran = CircuitCounters()
        let task = Task {
            try await breaker.run {
                ran.add()
                throw CallFailure()
            }
        }
        #expect(await eventually { ran.count == 1 })
        task.cancel()
        locks.letGo()
        await #expect(throws: CallFailure.self) { try await task.value }
        #expect(breaker.failureCount == 1)
    }

    @Test func aChangeThatFailsFailsAlone() async throws {
        let breaker = try self.fixture.breaker(trip: .failures(10_000, within: .seconds(60)))
        let core = self.core
        let deadline = self.farAway
        let error = BreakerStoreError(code: .noSuchCircuit, message: "none")
        let locks = HeldLocks(.lead, of: core)
        let reports = (0..<4).map { _ in Task { await breaker.recordFailure() } }
        let failing = Task {
            try await core.commit(until: deadline) { (_) throws(BreakerStoreError) -> Int in throw error }
        }
        let others = (0..<4).map { _ in Task { await breaker.recordFailure() } }
        for _ in 0..<100 { await Task.yield() }
        locks.letGo()
        for report in reports + others { await report.value }
        let thrown = await #expect(throws: BreakerStoreError.self) { try await failing.value }
        #expect(thrown?.code == .noSuchCircuit)
        #expect(breaker.failureCount == 8)
        #expect(self.fixture.isHealthy)
    }

    /// Where changes are tried again one by one, none waits for those behind it to hear that it was made.
    @Test func whatIsMadeIsReportedBeforeTheNextIsTried() async throws {
        let core = self.core
        let deadline = self.farAway
        let error = BreakerStoreError(code: .noSuchCircuit, message: "none")
        let locks = HeldLocks(.lead, of: core)
        let told = CircuitCounters()
        let tries = CircuitCounters()
        let toldFirst = CircuitCounters()
        let first = Task {
            try await core.commit(until: deadline) { _ in }
            told.add()
        }
        #expect(await eventually { core.waitingCount == 1 })
        let failing = Task {
            try await core.commit(until: deadline) { (_) throws(BreakerStoreError) -> Int in throw error }
        }
        #expect(await eventually { core.waitingCount == 2 })
        let last = Task {
            try await core.commit(until: deadline) { _ in
                tries.add()
                let end = Deadline(after: .hangLimit)
                while told.count == 0, tries.count == 1, !end.isOver { Deadline(after: .milliseconds(1)).sleep() }
                if told.count == 1 { toldFirst.add() }
            }
        }
        #expect(await eventually { core.waitingCount == 3 })
        locks.letGo()
        try await first.value
        _ = try? await failing.value
        try await last.value
        #expect(tries.count == 1)
        #expect(toldFirst.count == 1)
    }

    @Test func aChangeThatFailsLeavesNothingBehind() async throws {
        let breaker = try self.fixture.breaker()
        let error = BreakerStoreError(code: .noSuchCircuit, message: "none")
        #expect(throws: BreakerStoreError.self) {
            try self.core.commit(until: self.farAway) { (transaction) throws(BreakerStoreError) -> Int in
                _ = try transaction.change("a") { circuit, moment, failures in
                    let report = Report(worker: 1, sequence: 1, epoch: circuit.epoch, at: moment.now)
                    return circuit.callFailed(report, at: moment, among: failures)
                }
                throw error
            }
        }
        #expect(breaker.failureCount == 0)
        #expect(self.fixture.isHealthy)
    }

    /// A call through a closed circuit goes on whoever holds whatever.
    @Test func healthyCallsTakeNoLock() async throws {
        let breaker = try self.fixture.breaker()
        try await breaker.run {}
        let writer = try WriteLock(self.fixture.store)
        let locks = HeldLocks(.leadAndAnswers, of: self.core)
        for _ in 0..<1_000 {
            #expect(try await breaker.run { 1 } == 1)
            #expect(try synchronously { try breaker.run { 1 } } == 1)
        }
        #expect(breaker.isCallPermitted)
        await (try await breaker.admit()).succeed()
        locks.letGo()
        try writer.release()
    }

    /// Refusals too, until the circuit's time has come.
    @Test func refusalsTakeNoLock() async throws {
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(1))
        await breaker.recordFailure()
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        // The store's thread tells of refusals now and then: with a commit, after which the answer is read anew.
        self.fixture.clock.advance(by: .seconds(5))
        self.core.thread.wake()
        #expect(await eventually { (try? self.fixture.store.circuit(named: "a"))??.refusals == 1 })
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        let locks = HeldLocks(.leadAndAnswers, of: self.core)
        for _ in 0..<1_000 { await #expect(throws: CircuitOpenError.self) { try await breaker.run {} } }
        locks.letGo()
    }

    /// The policy's closures may use the store: no lock and no transaction is held while they run.
    @Test func closuresMayUseTheStore() async throws {
        let store = self.fixture.store
        let inner = try self.fixture.breaker("inner", trip: .failures(10_000, within: .seconds(60)))
        var calls = CallPolicy()
        calls.retry = .constant(maxRetries: 1, delay: .zero)
        calls.classify = { _ in
            inner.recordFailure()
            return .failure
        }
        calls.describe = { _ in
            inner.recordFailure()
            return "\((try? store.circuits().count) ?? 0)"
        }
        calls.onOutcome = { _ in inner.recordFailure() }
        let breaker = try self.fixture.breaker("outer", trip: .failures(10_000, within: .seconds(60)), calls: calls)
        _ = try? await breaker.run { throw CallFailure() }
        synchronously { _ = try? breaker.run { throw CallFailure() } }
        _ = try await breaker.run {
            1
        } failingWhen: { _ in
            inner.recordFailure()
            return false
        }
        await (try await breaker.admit()).fail(CallFailure())
        // Of each of five errors two reports and an outcome; of the value the judgement and the outcome.
        #expect(inner.failureCount == 5 * 3 + 2)
        #expect(breaker.failureCount == 5)
    }
}
