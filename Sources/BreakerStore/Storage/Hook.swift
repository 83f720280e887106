#if BREAKERSTORE_HOOKS
import Synchronization
#endif

/// Named points of the library at which a test may act: end the process, stop it, fail.
///
/// Release builds have none.
package enum Hook {
    #if BREAKERSTORE_HOOKS
    private static let action = Mutex<(@Sendable (String) -> Void)?>(nil)

    package static func install(_ action: (@Sendable (String) -> Void)?) { self.action.withLock { $0 = action } }
    #endif

    @inline(__always)
    static func reached(_ name: StaticString) {
        #if BREAKERSTORE_HOOKS
        guard let action = self.action.withLock({ $0 }) else { return }
        action("\(name)")
        #endif
    }
}
