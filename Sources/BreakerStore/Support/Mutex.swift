#if BREAKERSTORE_HOOKS
import Synchronization

/// In debug builds: the standard library's mutex, in a form that the thread sanitizer understands.
///
/// Where threads contend, the library's own code takes and leaves the lock, and is not instrumented: each contended
/// section is then reported as a race. The atomic tells the sanitizer that one section comes after the other.
struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Synchronization.Mutex<Value>
    private let order = Atomic<Bool>(false)

    init(_ value: consuming sending Value) { self.mutex = Synchronization.Mutex(value) }

    func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try self.mutex.withLock { (value) throws(Failure) in
            _ = self.order.load(ordering: .acquiring)
            defer { self.order.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }

    func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try self.mutex.withLockIfAvailable { (value) throws(Failure) in
            _ = self.order.load(ordering: .acquiring)
            defer { self.order.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
#endif
