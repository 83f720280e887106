import BreakerStore
import BreakerTestSupport
import FoundationEssentials

/// The host's clock for processes of a part: it moves on with each call that any of them makes, and stands still while
/// none does.
struct TickingClock: HostClock {
    /// 2026-01-01T00:00:00Z, less the uptime: an age that is worked out from both is exact.
    private static let boot = 1_767_225_600.0

    let shared: SharedClock

    var bootID: String { self.shared.bootID }
    var uptime: Duration { self.shared.uptime }
    var wallTime: Date { Date(timeIntervalSince1970: Self.boot + Double(self.microseconds) / 1e6) }

    /// The uptime.
    var microseconds: Int64 { Int64(self.shared.uptime / .microseconds(1)) }

    /// The uptime in microseconds at a wall time.
    static func microseconds(at date: Date) -> Int64 {
        // The clock goes by tens, a date is not exact to one.
        Int64(((date.timeIntervalSince1970 - Self.boot) * 1e5).rounded()) * 10
    }
}
