/// Decides when to wake which waiter, and until when tasks must sleep for that, without a clock or a task.
///
/// Waiters are kept in buckets of 10 ms, as in a timer wheel, so that a deadline is up to 10 ms late, and never early.
/// A new task sleeps only if no sleeping task wakes up in time. Most calls have the timeout of the calls before them,
/// so an earlier wake-up is planned already. A call that ends cancels no wake-up: the task then finds nothing to do.
struct TimerSchedule<Waiter> {
    typealias Instant = ContinuousClock.Instant

    /// Names one waiter, until that waiter is removed.
    struct Key: Sendable {
        fileprivate let tick: Int64
        fileprivate let number: UInt64
    }

    /// The length of a tick in microseconds.
    private static var tickLength: Int64 { 10_000 }
    /// The longest sleep, and so the longest time that a task outlives its timer.
    private static var longestSleep: Duration { .seconds(60) }

    private let start: Instant
    /// The waiters of each tick.
    ///
    /// A tick without waiters stays until a task wakes up, because the next waiter may belong to it.
    private var waiters: [Int64: [UInt64: Waiter]] = [:]
    private var added: UInt64 = 0
    /// The times until which tasks sleep, the earliest last: usually as many as there are different timeouts in use.
    private(set) var wakeUps: [Instant] = []

    init(start: Instant) { self.start = start }

    /// How many waiters there are.
    var count: Int { self.waiters.values.reduce(0) { $0 + $1.count } }

    /// Adds a waiter; `sleepUntil` is until when a new task must sleep, nil if none is needed.
    mutating func add(_ waiter: Waiter, until deadline: Instant, at now: Instant) -> (Key, sleepUntil: Instant?) {
        var tick = (deadline - self.start).saturatingMicroseconds / Self.tickLength
        if self.time(of: tick) < deadline, tick < .max / Self.tickLength { tick += 1 }
        let key = Key(tick: tick, number: self.added)
        self.added += 1
        self.waiters[key.tick, default: [:]][key.number] = waiter
        return (key, self.addWakeUpIfEarlier(for: key.tick, at: now))
    }

    /// Removes the waiter; nil if it was removed before.
    mutating func remove(_ key: Key) -> Waiter? { self.waiters[key.tick]?.removeValue(forKey: key.number) }

    /// Removes the due waiters, after a task has slept until `wakeUp`; `sleepUntil` is until when the task must sleep
    /// next, nil if it may end.
    mutating func wokeUp(_ wakeUp: Instant, at now: Instant) -> (due: [Waiter], sleepUntil: Instant?) {
        self.wakeUps.removeAll { $0 == wakeUp }
        var due: [Waiter] = []
        var first: Int64?
        for (tick, waiters) in self.waiters {
            if self.time(of: tick) <= now { due += waiters.values }
            if waiters.isEmpty || self.time(of: tick) <= now {
                self.waiters[tick] = nil
            } else {
                first = min(first ?? tick, tick)
            }
        }
        return (due, first.flatMap { self.addWakeUpIfEarlier(for: $0, at: now) })
    }

    private func time(of tick: Int64) -> Instant { self.start + .microseconds(tick * Self.tickLength) }

    /// Adds a wake-up for a tick, and returns it; nil if a sleeping task wakes up in time.
    private mutating func addWakeUpIfEarlier(for tick: Int64, at now: Instant) -> Instant? {
        let wakeUp = min(self.time(of: tick), now + Self.longestSleep)
        if let earliest = self.wakeUps.last, earliest <= wakeUp { return nil }
        self.wakeUps.append(wakeUp)
        return wakeUp
    }
}
