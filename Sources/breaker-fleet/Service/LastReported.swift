#if PostgreSQL
import Synchronization

/// The value that was last reported, by which a log leaves out repetitions.
final class LastReported<Value: Equatable & Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    /// Sets the value; returns whether it has changed.
    func change(to value: Value?) -> Bool {
        self.value.withLock { old in
            defer { old = value }
            return old != value
        }
    }
}
#endif
