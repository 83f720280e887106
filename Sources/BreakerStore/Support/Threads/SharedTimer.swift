import Synchronization

/// Wakes tasks at their deadlines, by the system's clock.
///
/// A sleeping task for each call would cost several times as much as a call, and the system would keep a cancelled one
/// until its deadline. Here one task sleeps for all waits. That task does not keep the timer alive.
final class SharedTimer: Sendable {
    /// Names one wait.
    struct Key: Sendable {
        fileprivate let key: TimerSchedule<Waiter>.Key
    }

    /// A task that waits.
    ///
    /// Safe: the continuation is resumed exactly once. The end of the wait or its deadline takes each waiter out of the
    /// schedule, and only the caller that took it out resumes it.
    @safe
    fileprivate struct Waiter: Sendable {
        let continuation: UnsafeContinuation<Bool, Never>

        func wake(isEnded: Bool) { unsafe self.continuation.resume(returning: isEnded) }
    }

    private typealias Instant = ContinuousClock.Instant

    private let schedule = Mutex(TimerSchedule<Waiter>(start: .now))

    /// How many tasks are waiting.
    var count: Int { self.schedule.withLock { $0.count } }

    /// How many tasks are sleeping on behalf of the waits.
    var sleepers: Int { self.schedule.withLock { $0.wakeUps.count } }

    /// Suspends the task until `end` is called or the time is over; returns whether `end` was called.
    ///
    /// - Parameter begin: gets the key with which the wait can be ended.
    func wait(for duration: Duration, _ begin: (Key) -> Void) async -> Bool {
        unsafe await withUnsafeContinuation { continuation in
            let waiter = unsafe Waiter(continuation: continuation)
            let now = Instant.now
            let (key, wakeUp) = self.schedule.withLock { $0.add(waiter, until: now + duration, at: now) }
            if let wakeUp { self.sleep(until: wakeUp) }
            begin(Key(key: key))
        }
    }

    /// Ends the wait; false if its deadline is over already.
    @discardableResult
    func end(_ key: Key) -> Bool {
        guard let waiter = self.schedule.withLock({ $0.remove(key.key) }) else { return false }
        waiter.wake(isEnded: true)
        return true
    }

    private func sleep(until wakeUp: Instant) {
        Task.detached(priority: .high) { [weak self] in
            var next: Instant? = wakeUp
            while let wakeUp = next {
                // This task is never cancelled.
                try? await Task.sleep(until: wakeUp, clock: .continuous)
                next = self?.wokeUp(wakeUp)
            }
        }
    }

    /// Wakes the tasks whose deadline is over; returns until when to sleep next.
    private func wokeUp(_ wakeUp: Instant) -> Instant? {
        let now = Instant.now
        let (due, next) = self.schedule.withLock { $0.wokeUp(wakeUp, at: now) }
        for waiter in due { waiter.wake(isEnded: false) }
        return next
    }
}
