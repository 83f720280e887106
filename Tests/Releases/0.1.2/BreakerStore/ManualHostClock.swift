import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A clock that a test moves.
///
/// It stands still in between.
public final class ManualHostClock: HostClock {
    private struct Time {
        var boot = 1
        var uptime = Duration.seconds(1_000)
        // 2026-01-01T00:00:00Z
        var wallSince1970 = Duration.seconds(1_767_225_600)
    }

    private let time = Mutex(Time())

    /// Creates a clock that stands 1,000 s after its first boot, at 2026-01-01T00:00:00Z.
    public init() {}

    /// `manual-boot-1`, and a new number after each reboot.
    public var bootID: String { "manual-boot-\(self.time.withLock { $0.boot })" }

    /// The time since the last boot.
    public var uptime: Duration { self.time.withLock { $0.uptime } }

    /// The wall time: what was advanced, stepped and spent in reboots.
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
    }

    /// Sets the wall time on, or back when negative, as an administrator or a time server does; uptime stays.
    public func stepWallTime(by duration: Duration) {
        self.time.withLock { $0.wallSince1970 = $0.wallSince1970.addingSaturating(duration) }
    }

    /// Boots the host anew: another boot id, uptime from zero, the wall time on by `duration`; a negative one counts as
    /// zero.
    public func reboot(downFor duration: Duration) {
        self.time.withLock { time in
            time.boot += 1
            time.uptime = .zero
            time.wallSince1970 = time.wallSince1970.addingSaturating(max(duration, .zero))
        }
    }
}
