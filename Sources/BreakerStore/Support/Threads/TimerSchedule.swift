/// Decides when to wake which waiter, and until when tasks must sleep for that, without a clock or a task.
///
/// A timer wheel: waiters are kept by ticks of 10 ms, so that a deadline comes up to 10 ms late, and never early. A new
/// task sleeps only if no sleeping task wakes up in time. Most calls have the timeout of the calls before them, so an
/// earlier wake-up is already planned. A call that ends cancels no wake-up: the task then finds nothing to do.
struct TimerSchedule<Waiter> {
    typealias Instant = ContinuousClock.Instant

    /// Names one waiter, until that waiter is removed.
    struct Key: Sendable {
        fileprivate let tick: Int64
        fileprivate let number: UInt64
    }

    /// Microseconds.
    private static var tick: Int64 { 10_000 }
    /// The longest sleep, and so the longest time that a task outlives its timer.
    private static var longestSleep: Duration { .seconds(60) }

    private let start: Instant
    /// A tick without waiters stays until a task wakes up: the next waiter may come in the same tick.
    private var waiters: [Int64: [UInt64: Waiter]] = [:]
    private var added: UInt64 = 0
    /// The times until which tasks sleep, the earliest last: usually as many as there are different timeouts in use.
    private(set) var wakeUps: [Instant] = []

    init(start: Instant) { self.start = start }

    /// How many waiters there are.
    var count: Int { self.waiters.values.reduce(0) { $0 + $1.count } }

    /// Adds a waiter; also returns until when a new task must sleep, if one is needed.
    mutating func add(_ waiter: Waiter, until deadline: Instant, at now: Instant) -> (Key, sleepUntil: Instant?) {
        var tick = (deadline - self.start).saturatingMicroseconds / Self.tick
        if self.time(of: tick) < deadline, tick < .max / Self.tick { tick += 1 }
        let key = Key(tick: tick, number: self.added)
        self.added += 1
        self.waiters[key.tick, default: [:]][key.number] = waiter
        return (key, self.newWakeUp(for: key.tick, at: now))
    }

    /// Removes the waiter; nil if it was removed before.
    mutating func remove(_ key: Key) -> Waiter? { self.waiters[key.tick]?.removeValue(forKey: key.number) }

    /// Removes the due waiters after a task slept until `wakeUp`; also returns until when it must sleep next, if at
    /// all.
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
        return (due, first.flatMap { self.newWakeUp(for: $0, at: now) })
    }

    private func time(of tick: Int64) -> Instant { self.start + .microseconds(tick * Self.tick) }

    private mutating func newWakeUp(for tick: Int64, at now: Instant) -> Instant? {
        let wakeUp = min(self.time(of: tick), now + Self.longestSleep)
        if let earliest = self.wakeUps.last, earliest <= wakeUp { return nil }
        self.wakeUps.append(wakeUp)
        return wakeUp
    }
}
