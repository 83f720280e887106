import Synchronization

/// A value behind a lock that a child of `fork` never waits for: a thread of the parent may have held it at the fork,
/// and does not exist in the child.
struct ForkSafe<Value: Sendable>: ~Copyable, Sendable {
    private let first: Value
    private let current: Mutex<Value>
    private let forks = ForkRecord.forks

    init(_ value: Value) {
        _ = ForkRecord.install
        self.first = value
        self.current = Mutex(value)
    }

    /// In a child the value as of the fork; the first one if a thread was just looking at it or changing it.
    var value: Value {
        get {
            guard self.forks == ForkRecord.forks else { return self.current.withLockIfAvailable { $0 } ?? self.first }
            return self.current.withLock { $0 }
        }
        nonmutating set { self.change { $0 = newValue } }
    }

    /// Changes the value; in a child nothing.
    func change(_ body: (inout Value) -> Void) {
        guard self.forks == ForkRecord.forks else { return }
        self.current.withLock { body(&$0) }
    }
}
