import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clock of one of several hosts, which all stand on this machine.
///
/// The first has the machine's own, by which `breaker-inspect` and `breaker-fleet` go. Each other one booted at another
/// time, and its wall clock is wrong.
struct ClockOfAHost: HostClock {
    let number: Int
    private let machine = SystemHostClock()

    init(number: Int) { self.number = number }

    init(argument: String) throws {
        guard let number = Int(argument), (0..<1_000).contains(number) else { throw DemoError.usage }
        self.init(number: number)
    }

    var isOfTheMachine: Bool { self.number == 0 }
    var bootID: String { self.isOfTheMachine ? self.machine.bootID : "\(self.machine.bootID), host \(self.number)" }
    var uptime: Duration { self.machine.uptime + .seconds(5_000 * self.number) }
    var wallTime: Date { self.machine.wallTime.addingTimeInterval(-3_600 * Double(self.number)) }
}
