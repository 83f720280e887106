#if PostgreSQL
import Synchronization

/// What was told last.
final class Told<Value: Equatable & Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    /// Returns whether the value is another one now.
    func change(to value: Value?) -> Bool {
        self.value.withLock { old in
            defer { old = value }
            return old != value
        }
    }
}
#endif
