import BreakerStore
package import FoundationEssentials

/// The host's clock for processes of a part: it moves on with each call that any of them makes, and stands still while
/// none does.
package struct TickingClock: HostClock {
    /// 2026-01-01T00:00:00Z, less the uptime: an age that is worked out from both is exact.
    private static let boot = 1_767_225_600.0

    package let shared: SharedClock

    package init(shared: SharedClock) { self.shared = shared }

    package var bootID: String { self.shared.bootID }
    package var uptime: Duration { self.shared.uptime }
    package var wallTime: Date { Date(timeIntervalSince1970: Self.boot + Double(self.microseconds) / 1e6) }

    /// The uptime.
    package var microseconds: Int64 { Int64(self.shared.uptime / .microseconds(1)) }

    /// The uptime in microseconds at a wall time.
    package static func microseconds(at date: Date) -> Int64 {
        // The clock goes by tens, a date is not exact to one.
        Int64(((date.timeIntervalSince1970 - Self.boot) * 1e5).rounded()) * 10
    }
}
