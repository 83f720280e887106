#if BREAKERSTORE_HOOKS
import Synchronization
#endif

/// Fault injection: named points of the library at which a test may end, stop or fail the process.
///
/// Release builds have none.
package enum Hook {
    #if BREAKERSTORE_HOOKS
    /// A type of its own, because Swift wraps a bare closure in another one each time it is read from a mutex.
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
    package static func reached(_ name: StaticString) {
        #if BREAKERSTORE_HOOKS
        guard self.isInstalled.load(ordering: .relaxed), let action = self.action.withLock({ $0 }) else { return }
        action.run("\(name)")
        #endif
    }
}
