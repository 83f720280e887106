import Dispatch

@testable import BreakerStore

/// What keeps a core's commits from being made, held by a thread of its own until it is let go.
final class HeldLocks: Sendable {
    private let end = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)

    enum Kind {
        /// The lead: nobody commits.
        case lead
        /// And nobody reads through the connection that answers calls.
        case leadAndAnswers
    }

    /// Returns when it is held.
    init(_ kind: Kind, of core: StoreCore) {
        let held = DispatchSemaphore(value: 0)
        let (end, done) = (self.end, self.done)
        let hold: @Sendable () -> Void = {
            held.signal()
            end.wait()
        }
        DispatchQueue(label: "held locks").async {
            // As a call does that reads through the connection that writes, and takes long.
            while !core.update({ $0.acquireLeadForRead() }) { Deadline(after: .milliseconds(1)).sleep() }
            switch kind {
            case .lead: hold()
            case .leadAndAnswers: core.answers.source.withLock { _ in hold() }
            }
            core.apply { $0.leadEnded() }
            done.signal()
        }
        held.wait()
    }

    func letGo() {
        self.end.signal()
        self.done.wait()
    }
}
