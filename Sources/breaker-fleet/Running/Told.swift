#if PostgreSQL
import Synchronization

/// What was told last.
final class Told: Sendable {
    private let value = Mutex(false)

    /// Returns whether the value is another one now.
    func change(to value: Bool) -> Bool {
        self.value.withLock { old in
            defer { old = value }
            return old != value
        }
    }
}
#endif
