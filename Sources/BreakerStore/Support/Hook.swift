#if BREAKERSTORE_HOOKS
import Synchronization
#endif

/// Named points of the library at which a test may act: end or stop the process, or fail.
///
/// Release builds have none.
package enum Hook {
    #if BREAKERSTORE_HOOKS
    /// A type of its own, because Swift wraps a bare closure once more each time it is read from a mutex.
    private struct Action: Sendable {
        let run: @Sendable (String) -> Void
    }

    private static let action = Mutex<Action?>(nil)
    /// Read before the lock is taken: in a child of `fork`, a thread that no longer exists may hold the lock forever.
    private static let isInstalled = Atomic<Bool>(false)

    package static func install(_ action: (@Sendable (String) -> Void)?) {
        self.isInstalled.store(action != nil, ordering: .sequentiallyConsistent)
        self.action.withLock { $0 = action.map(Action.init) }
    }
    #endif

    @inline(__always)
    static func reached(_ name: StaticString) {
        #if BREAKERSTORE_HOOKS
        guard self.isInstalled.load(ordering: .relaxed), let action = self.action.withLock({ $0 }) else { return }
        action.run("\(name)")
        #endif
    }
}
