#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The end of a wait.
///
/// Waits are for other processes, so they use real time, whatever clock the store has.
package struct Deadline: Sendable, Comparable {
    let instant: ContinuousClock.Instant

    package init(after duration: Duration) { self.instant = .now + duration }

    init(at instant: ContinuousClock.Instant) { self.instant = instant }

    var isOver: Bool { self.isOver(at: .now) }

    func isOver(at now: ContinuousClock.Instant) -> Bool { self.instant <= now }

    var remaining: Duration { max(.zero, self.instant - .now) }

    package static func < (left: Deadline, right: Deadline) -> Bool { left.instant < right.instant }

    /// Blocks the thread until the time is over.
    func sleep() {
        while !self.isOver { usleep(UInt32(min(max(1, Int64(self.remaining / .microseconds(1))), 500_000))) }
    }

    /// Blocks the thread for a random time, at most until the deadline: with the fixed times of SQLite's own handler a
    /// waiter could starve.
    func pause(atMost longest: Duration = .microseconds(500)) {
        let limit = Int64(min(longest, self.remaining) / .microseconds(1))
        usleep(UInt32(Int64.random(in: 20...max(21, limit))))
    }
}
