#if PostgreSQL
import BreakerStore
package import Foundation

/// A clock that began elsewhere, at another time.
package struct OtherHostClock: HostClock {
    private let base = SystemHostClock()
    package let number: Int

    package init(number: Int) { self.number = number }

    /// By how much its uptime is ahead of this machine's.
    package static func lead(of number: Int) -> Duration { .seconds(5_000 * number) }

    package var bootID: String { "boot of host \(self.number)" }
    package var uptime: Duration { self.base.uptime + Self.lead(of: self.number) }
    package var wallTime: Date { self.base.wallTime.addingTimeInterval(-5_000 * Double(self.number)) }
}
#endif
