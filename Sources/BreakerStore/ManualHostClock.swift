import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A clock that a test moves.
///
/// ```swift
/// @Test func letsAProbeThroughAfterTheRecoveryTime() async throws {
///     var configuration = CircuitStore.Configuration()
///     let clock = ManualHostClock()
///     configuration.clock = clock
///     let store = try CircuitStore.temporary(configuration: configuration)
///     defer { store.close() }
///     let recovery = RecoveryRule(timeout: .seconds(30))
///     let users = try store.breaker(.init(name: "users", trip: .consecutiveFailures(1), recovery: recovery))
///     await users.recordFailure()
///     #expect(!users.isCallPermitted)
///     clock.advance(by: .seconds(30))
///     #expect(users.isCallPermitted)
/// }
/// ```
///
/// The clock stands still between moves. A call's time-out and the delays of its retries wait by this clock: a test
/// waits for the sleepers, then advances the clock.
public final class ManualHostClock: HostClock {
    /// A task or a thread that sleeps by the clock.
    private struct Sleeper {
        var id: UInt64
        var end: Duration
        var wake: @Sendable (Result<Void, CancellationError>) -> Void
    }

    /// A test that waits for sleepers.
    private struct Waiter {
        var id: UInt64
        var count: Int
        var wake: @Sendable () -> Void
    }

    private struct Waiting {
        /// How far the clock was advanced in all; a reboot does not set it back.
        var elapsed = Duration.zero
        var sleepers: [Sleeper] = []
        var waiters: [Waiter] = []
        var lastID: UInt64 = 0

        mutating func newID() -> UInt64 {
            self.lastID += 1
            return self.lastID
        }

        /// Removes and returns the tests for which enough tasks sleep now.
        mutating func drainWaiters() -> [Waiter] {
            let count = self.sleepers.count
            return self.waiters.extract { $0.count <= count }
        }
    }

    private struct Time {
        var boot = 1
        var uptime = Duration.seconds(1_000)
        // 2026-01-01T00:00:00Z
        var wallSince1970 = Duration.seconds(1_767_225_600)
    }

    private let time = Mutex(Time())
    private let waiting = Mutex(Waiting())

    /// Creates a clock that stands 1,000 s after its first boot, at 2026-01-01T00:00:00Z.
    public init() {}

    /// `manual-boot-1`, and a new number after each reboot.
    public var bootID: String { "manual-boot-\(self.time.withLock { $0.boot })" }

    /// The time since the last boot.
    public var uptime: Duration { self.time.withLock { $0.uptime } }

    /// The wall time: the start, and all that was advanced, stepped and spent in reboots.
    public var wallTime: Date {
        let sinceEpoch = self.time.withLock { $0.wallSince1970 }
        return Date(timeIntervalSince1970: Double(sinceEpoch.attoseconds) / 1e18)
    }

    /// Lets time pass: uptime and wall time move on together.
    ///
    /// A negative duration moves neither, since uptime never runs backwards; ``stepWallTime(by:)`` sets the wall time
    /// back.
    public func advance(by duration: Duration) {
        let passed = max(duration, .zero)
        self.time.withLock { time in
            time.uptime = time.uptime.addingSaturating(passed)
            time.wallSince1970 = time.wallSince1970.addingSaturating(passed)
        }
        let awake = self.waiting.withLock { waiting in
            waiting.elapsed = waiting.elapsed.addingSaturating(passed)
            let elapsed = waiting.elapsed
            return waiting.sleepers.extract { $0.end <= elapsed }
        }
        for sleeper in awake { sleeper.wake(.success(())) }
    }

    /// Sets the wall time on, or back when negative, as an administrator or a time server does; uptime stays.
    public func stepWallTime(by duration: Duration) {
        self.time.withLock { $0.wallSince1970 = $0.wallSince1970.addingSaturating(duration) }
    }

    /// Reboots the host: a new boot id, uptime from zero, wall time later by `duration`, or by zero if negative.
    public func reboot(downFor duration: Duration) {
        self.time.withLock { time in
            time.boot += 1
            time.uptime = .zero
            time.wallSince1970 = time.wallSince1970.addingSaturating(max(duration, .zero))
        }
    }

    // MARK: - Sleeping

    /// Suspends the task until the clock was advanced by `duration`; throws `CancellationError` if the task is
    /// cancelled.
    ///
    /// A reboot wakes no sleeper, and does not shorten its sleep.
    public func sleep(for duration: Duration) async throws {
        let id = self.waiting.withLock { $0.newID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                self.add(id, duration) { continuation.resume(with: $0.mapError { $0 }) }
            }
        } onCancel: {
            self.cancel(id)
        }
    }

    /// Adds a sleeper, or wakes it at once if there is nothing to wait for or its task is cancelled.
    private func add(
        _ id: UInt64, _ duration: Duration, _ wake: @escaping @Sendable (Result<Void, CancellationError>) -> Void
    ) {
        let (atOnce, waiters): (Result<Void, CancellationError>?, [Waiter]) = self.waiting.withLock { waiting in
            // A cancellation before now found no sleeper; a later cancellation finds it.
            if Task.isCancelled { return (.failure(CancellationError()), []) }
            guard duration > .zero else { return (.success(()), []) }
            let end = waiting.elapsed.addingSaturating(duration)
            waiting.sleepers.append(Sleeper(id: id, end: end, wake: wake))
            return (nil, waiting.drainWaiters())
        }
        if let atOnce { wake(atOnce) }
        for waiter in waiters { waiter.wake() }
    }

    private func cancel(_ id: UInt64) {
        let sleepers = self.waiting.withLock { $0.sleepers.extract { $0.id == id } }
        for sleeper in sleepers { sleeper.wake(.failure(CancellationError())) }
    }

    /// Returns when `count` tasks or threads sleep by this clock, or the calling task is cancelled.
    ///
    /// A test waits for them before it advances the clock: a later sleeper would wait forever.
    public func waitForSleepers(_ count: Int = 1) async {
        let id = self.waiting.withLock { $0.newID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOver = self.waiting.withLock { waiting in
                    if Task.isCancelled || waiting.sleepers.count >= count { return true }
                    waiting.waiters.append(Waiter(id: id, count: count) { continuation.resume() })
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiters = self.waiting.withLock { $0.waiters.extract { $0.id == id } }
            for waiter in waiters { waiter.wake() }
        }
    }
}

extension ManualHostClock: BlockingHostClock {
    func block(for duration: Duration) {
        let isOver = DispatchSemaphore(value: 0)
        self.add(self.waiting.withLock { $0.newID() }, duration) { _ in isOver.signal() }
        isOver.wait()
    }
}
