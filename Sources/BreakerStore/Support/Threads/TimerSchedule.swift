/// Decides when to wake which waiter, and until when tasks must sleep for that, without a clock or a task.
///
/// A new task sleeps only if no sleeping task wakes up in time. Most calls have the timeout of the calls before them,
/// so an earlier wake-up is already planned. A call that ends cancels no wake-up: the task then finds nothing to do.
struct TimerSchedule<Waiter> {
    typealias Instant = ContinuousClock.Instant
    typealias Key = DeadlineHeap<Waiter>.Key

    /// The longest sleep, and so the longest time that a task outlives its timer.
    private static var longestSleep: Duration { .seconds(60) }

    private var waiters = DeadlineHeap<Waiter>()
    /// The times until which tasks sleep, the earliest last: usually as many as there are different timeouts in use.
    private(set) var wakeUps: [Instant] = []

    /// How many waiters there are.
    var count: Int { self.waiters.count }

    /// Adds a waiter; also returns until when a new task must sleep, if one is needed.
    mutating func add(_ waiter: Waiter, until deadline: Instant, at now: Instant) -> (Key, sleepUntil: Instant?) {
        let key = self.waiters.add(waiter, at: deadline)
        return (key, self.newWakeUp(at: now))
    }

    /// Removes the waiter; nil if it was removed before.
    mutating func remove(_ key: Key) -> Waiter? { self.waiters.remove(key) }

    /// Removes the due waiters after a task slept until `wakeUp`; also returns until when it must sleep next, if at
    /// all.
    mutating func wokeUp(_ wakeUp: Instant, at now: Instant) -> (due: [Waiter], sleepUntil: Instant?) {
        self.wakeUps.removeAll { $0 == wakeUp }
        var due: [Waiter] = []
        while let waiter = self.waiters.removeFirst(dueAt: now) { due.append(waiter) }
        return (due, self.newWakeUp(at: now))
    }

    private mutating func newWakeUp(at now: Instant) -> Instant? {
        guard let deadline = self.waiters.first else { return nil }
        let wakeUp = min(deadline, now + Self.longestSleep)
        if let earliest = self.wakeUps.last, earliest <= wakeUp { return nil }
        self.wakeUps.append(wakeUp)
        return wakeUp
    }
}
