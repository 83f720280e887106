import Dispatch
import Synchronization

@testable import BreakerStore

/// Locks of a core, held by a thread of their own until they are let go.
final class HeldLocks: Sendable {
    private let end = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)

    enum Kind {
        case session, sessionAndReading
    }

    /// Returns when the locks are held.
    init(_ kind: Kind, of core: StoreCore) {
        let held = DispatchSemaphore(value: 0)
        let (end, done) = (self.end, self.done)
        let hold: @Sendable () -> Void = {
            held.signal()
            end.wait()
        }
        DispatchQueue(label: "held locks").async {
            core.session.withLock { _ in
                switch kind {
                case .session: hold()
                case .sessionAndReading: core.reading.withLock { _ in hold() }
                }
            }
            done.signal()
        }
        held.wait()
    }

    func letGo() {
        self.end.signal()
        self.done.wait()
    }
}
