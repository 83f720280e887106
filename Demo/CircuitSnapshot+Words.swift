import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CircuitSnapshot {
    /// Its state in a word.
    var stateInWords: String {
        switch self.state {
        case .closed: "closed"
        case .open: "open"
        case .halfOpen: "half-open"
        case .held(let state, _): "held \(state)"
        }
    }
}

extension Date {
    /// Hours, minutes and seconds, in UTC.
    var timeOfDay: String {
        let seconds = Int(self.timeIntervalSince1970)
        let parts = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60]
        return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
