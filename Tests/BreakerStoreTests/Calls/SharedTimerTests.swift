import BreakerTestSupport
import Synchronization
import Testing

@testable import BreakerStore

/// Calls with a deadline by the system's clock: one task sleeps for all of a store.
///
/// Time really passes here, so that nothing is expected of how soon a deadline comes, but that it comes, and not early.
@Suite(.timeLimit(.minutes(10))) struct SharedTimerTests {
    private let store: CircuitStore
    private let log = OutcomeLog()

    init() throws {
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .hangLimit
        self.store = try CircuitStore.temporary(configuration: configuration)
    }

    private func breaker(_ timeout: Duration, _ name: String = "a") throws -> CircuitBreaker {
        var calls = CallPolicy()
        calls.timeout = timeout
        calls.onOutcome = { [log] in log.add($0) }
        return try self.store.breaker(
            .init(
                name: name, trip: .failures(10_000, within: .seconds(600)), probes: ProbeRule(lease: .forEver)),
            calls: calls)
    }

    private var timer: SharedTimer? { self.store.backend.core?.timer }

    /// Ends when the task is cancelled.
    private static func hang() async throws { try await Task.sleep(for: .seconds(3_600)) }

    @Test func aCallTimesOutAndIsCountedOnce() async throws {
        let breaker = try self.breaker(.milliseconds(30))
        let start = ContinuousClock.now
        let error = await #expect(throws: CallTimeoutError.self) { try await breaker.run { try await Self.hang() } }
        #expect(ContinuousClock.now - start >= .milliseconds(30))
        #expect(error?.name == "a")
        #expect(error?.timeout == .milliseconds(30))
        #expect(breaker.failureCount == 1)
        #expect(self.log.results == [.failed])
        #expect(self.timer?.count == 0)
    }

    /// The operation ends only when it has seen the failure, and then its cancellation.
    @Test func theFailureIsCommittedBeforeTheOperationIsCancelled() async throws {
        let breaker = try self.breaker(.milliseconds(1))
        var wasCancelledBefore = false
        var isCancelledAfterwards = false
        await #expect(throws: CallTimeoutError.self) {
            try await breaker.run {
                while true {
                    let isCancelled = Task.isCancelled
                    if breaker.failureCount > 0 { break }
                    // It was cancelled first, and even then the failure was not there.
                    if isCancelled { wasCancelledBefore = true }
                    await Task.yield()
                }
                isCancelledAfterwards = await eventually { Task.isCancelled }
            }
        }
        #expect(!wasCancelledBefore)
        #expect(isCancelledAfterwards)
        #expect(!Task.isCancelled)
    }

    @Test func aShorterDeadlineThatComesLaterIsFirst() async throws {
        let long = try self.breaker(.forEver)
        let short = try self.breaker(.milliseconds(10), "b")
        let call = Task { try await long.run { try await Self.hang() } }
        #expect(await eventually { self.timer?.count == 1 })
        await #expect(throws: CallTimeoutError.self) { try await short.run { try await Self.hang() } }
        #expect(self.timer?.count == 1)
        #expect(long.failureCount == 0)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(self.timer?.count == 0)
    }

    @Test func aThousandHangingCallsAllTimeOut() async throws {
        let breaker = try self.breaker(.milliseconds(50))
        let timeouts = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    do {
                        try await breaker.run { try await Self.hang() }
                        return false
                    } catch {
                        return error is CallTimeoutError
                    }
                }
            }
            return await group.reduce(0) { $1 ? $0 + 1 : $0 }
        }
        #expect(timeouts == 1_000)
        #expect(breaker.failureCount == 1_000)
        #expect(self.timer?.count == 0)
    }

    @Test func theCallersCancellationIsNoVerdict() async throws {
        let breaker = try self.breaker(.forEver)
        let call = Task { try await breaker.run { try await Self.hang() } }
        #expect(await eventually { self.timer?.count == 1 })
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(breaker.failureCount == 0)
        #expect(self.log.results == [.ignored])
    }

    /// Once the caller's task is cancelled, there is no deadline any longer.
    @Test func aCancelledCallThatGoesOnDoesNotTimeOut() async throws {
        let breaker = try self.breaker(.milliseconds(20))
        let call = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await breaker.run {
                let end = ContinuousClock.now + .milliseconds(100)
                while ContinuousClock.now < end { await Task.yield() }
                return 1
            }
        }
        #expect(try await call.value == 1)
        #expect(breaker.failureCount == 0)
        #expect(self.log.results == [.succeeded])
    }

    @Test func anOperationThatIgnoresItsCancellationIsWaitedFor() async throws {
        let breaker = try self.breaker(.milliseconds(10))
        var hasEnded = false
        await #expect(throws: CallTimeoutError.self) {
            try await breaker.run {
                while !Task.isCancelled { await Task.yield() }
                for _ in 0..<1_000 { await Task.yield() }
                hasEnded = true
            }
        }
        #expect(hasEnded)
        #expect(breaker.failureCount == 1)
    }

    /// Operations that take about as long as they may.
    @Test func eachCallEndsInOneWay() async throws {
        let breaker = try self.breaker(.milliseconds(2))
        let (values, timeouts) = await withTaskGroup(of: Bool?.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    do {
                        try await breaker.run {
                            let end = ContinuousClock.now + .microseconds(1_500 + number % 1_000)
                            while ContinuousClock.now < end { await Task.yield() }
                        }
                        return true
                    } catch {
                        return error is CallTimeoutError ? false : nil
                    }
                }
            }
            return await group.reduce(into: (0, 0)) { counts, isInTime in
                if isInTime == true { counts.0 += 1 }
                if isInTime == false { counts.1 += 1 }
            }
        }
        #expect(values + timeouts == 2_000)
        #expect(breaker.failureCount == timeouts)
        #expect(self.log.results.filter { $0 == .failed }.count == timeouts)
        #expect(self.log.results.count == 2_000)
        #expect(self.timer?.count == 0)
    }

    @Test func endedCallsLeaveNothingBehind() async throws {
        let breaker = try self.breaker(.forEver)
        for number in 0..<20_000 { #expect(try await breaker.run { number } == number) }
        #expect(self.timer?.count == 0)
        #expect(self.timer?.sleepers == 1)
    }

    /// The running call alone keeps store and timer.
    @Test func theDeadlineOfAStoreThatIsFreedComes() async throws {
        weak let core: StoreCore?
        weak let timer: SharedTimer?
        do {
            let store = try CircuitStore.temporary(configuration: Stores.configuration())
            core = store.backend.core
            timer = core?.timer
            let config = CircuitBreaker.Config(name: "a", probes: ProbeRule(lease: .forEver))
            var calls = CallPolicy()
            calls.timeout = .forEver
            // A task sleeps for this one longer than the test may take.
            #expect(try await store.breaker(config, calls: calls).run { 1 } == 1)
            calls.timeout = .milliseconds(20)
            let breaker = try store.breaker(config, calls: calls)
            let call = Task { [breaker] in try await breaker.run { try await Self.hang() } }
            await #expect(throws: CallTimeoutError.self) { try await call.value }
        }
        // The sleeping task does not keep the timer.
        #expect(await eventually { core == nil && timer == nil })
    }

    @TaskLocal private static var number = 0

    @Test func theOperationIsTheCallers() async throws {
        let breaker = try self.breaker(.forEver)
        #expect(try await Self.$number.withValue(5) { try await breaker.run { Self.number } } == 5)
        let priority = try await Task(priority: .background) { try await breaker.run { Task.currentPriority } }.value
        #expect(priority >= .background)
        #expect(try await breaker.run({ nil as Int? }) == nil)
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
    }
}
