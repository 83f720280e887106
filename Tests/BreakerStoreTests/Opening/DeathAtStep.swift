import BreakerTestSupport
import Synchronization

@testable import BreakerStore

/// Ends the process at its n-th step on disk: a named hook of the library, or a system call by which SQLite changes a
/// file.
enum DeathAtStep {
    private static let left = Atomic<Int>(0)

    static func install(_ step: Int) {
        Self.left.store(step, ordering: .relaxed)
        Hook.install { _ in DiskSteps.reached() }
        DiskSteps.install(withLocks: false) {
            if Self.left.subtract(1, ordering: .relaxed).newValue == 0 { Forked.die() }
        }
    }
}
