@testable import BreakerStore

/// All that can happen to a store's life.
///
/// Tickets have numbers, and times are milliseconds.
enum LifeEvent: Hashable {
    case opened(mayCacheDecisions: Bool)
    case lost
    case openingFailed
    case recovered
    case closeRequested
    case closed
    case submitted(Int, by: Submitter, deadline: Int)
    case startRound
    case fileLocked
    case handleBusyFile
    case commitEnded(isLost: Bool, frames: Int)
    case acquireLeadForRead
    case leadEnded
    case releaseLeadIfIdle
    case acquireLeadForThread
    case waiterGaveUp(Int)
    case nextThreadWork
    case claimDueCheckpoint
    case setMaintenanceDue
    case idleSweepBegan
    case handlesWereMade
    case circuitsWereDropped(areOthersLeft: Bool)

    enum Submitter: String, CaseIterable { case thread, task, nobody }

    /// How long a closing store may take to commit what waits.
    static let closingTime = 500
    /// How often idle circuits are looked for.
    static let idlePause = 300
}

/// What an event leads to, in words: the decision, and what is to be done.
struct LifeReply: Equatable, CustomStringConvertible {
    var decision = ""
    var failed: [Int] = []
    var code: BreakerStoreError.Code?
    var wakes = false

    var description: String {
        var parts = self.decision.isEmpty ? [] : [self.decision]
        if let code { parts.append("fails \(self.failed.sorted()) (\(code))") }
        if self.wakes { parts.append("wakes") }
        return parts.joined(separator: ", ")
    }
}
