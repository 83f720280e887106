#if BREAKERSTORE_HOOKS
import Synchronization
#endif

/// Named points of the library at which a test may act: end the process, stop it, fail.
///
/// Release builds have none.
package enum Hook {
    #if BREAKERSTORE_HOOKS
    /// In a type of its own: a bare closure in a mutex is wrapped once more each time that it is looked at.
    private struct Action: Sendable {
        let run: @Sendable (String) -> Void
    }

    private static let action = Mutex<Action?>(nil)
    /// Asked first: a child of `fork` may find the lock held for ever.
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
