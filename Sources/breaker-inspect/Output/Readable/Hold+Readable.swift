import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CircuitSnapshot.Hold {
    /// The hold as one sentence, such as `held open by ann for 3 d: moving`.
    func sentence(at now: Date) -> String { "held \(self.state.rawValue)\(self.details(at: now))" }

    /// Who holds the circuit, since when, until when and why, to be put behind the state.
    func details(at now: Date) -> String {
        let by = self.by.map { " by \($0.escaped)" } ?? ""
        let end = self.until.map { ", until \($0.readable)" } ?? ""
        let reason = self.reason.map { ": \($0.escaped)" } ?? ""
        return "\(by) for \(max(.zero, now.since(self.since)).brief())\(end)\(reason)"
    }
}
