import BreakerStore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The host's clock, with a count of how often it is read.
final class CountingClock: HostClock {
    private let system = SystemHostClock()
    private let count = Atomic<Int>(0)

    var reads: Int { self.count.load(ordering: .relaxed) }

    var bootID: String { self.system.bootID }

    var uptime: Duration {
        self.count.add(1, ordering: .relaxed)
        return self.system.uptime
    }

    var wallTime: Date {
        self.count.add(1, ordering: .relaxed)
        return self.system.wallTime
    }
}
