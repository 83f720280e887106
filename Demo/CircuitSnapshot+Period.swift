import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CircuitSnapshot {
    /// From when the circuit opened until it may be probed; zero where it is not open.
    var openPeriod: Duration {
        switch self.state {
        case .open(let until): .seconds(until.timeIntervalSince(self.since).rounded())
        case .closed, .halfOpen, .held: .zero
        }
    }
}
