/// Decides who is woken when, and until when tasks must sleep for that, without a clock or a task.
///
/// A new task sleeps only where none wakes up in time. Most calls have the timeout of the calls before them, so that
/// their deadlines come later than a wake-up that is planned already. A call that ends takes nothing back: the task
/// that sleeps for it finds nothing to do when it wakes up.
struct TimerSchedule<Waiter> {
    typealias Instant = ContinuousClock.Instant
    typealias Key = DeadlineHeap<Waiter>.Key

    /// The longest sleep: so long a task stays after its timer is gone.
    private static var longestSleep: Duration { .seconds(60) }

    private var waiters = DeadlineHeap<Waiter>()
    /// Until when tasks sleep, the earliest last: mostly as many as there are timeouts in use.
    private(set) var wakeUps: [Instant] = []

    /// How many wait.
    var count: Int { self.waiters.count }

    /// Adds a waiter; returns, too, until when a new task must sleep, if one must.
    mutating func add(_ waiter: Waiter, until deadline: Instant, at now: Instant) -> (Key, sleepUntil: Instant?) {
        let key = self.waiters.add(waiter, at: deadline)
        return (key, self.newWakeUp(at: now))
    }

    /// Takes out the waiter; nil if it was taken out before.
    mutating func remove(_ key: Key) -> Waiter? { self.waiters.remove(key) }

    /// A task has slept until `wakeUp`: takes out those whose time has come, and returns until when the task must sleep
    /// next, if it must.
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
