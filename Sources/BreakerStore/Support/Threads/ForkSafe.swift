import Synchronization

/// A value behind a lock that a child of `fork` never waits for: a thread of the parent may have held the lock at the
/// fork, and does not exist in the child.
struct ForkSafe<Value: Sendable>: ~Copyable, Sendable {
    private let first: Value
    private let current: ForkSafeLock<Value>

    init(_ value: Value) {
        self.first = value
        self.current = ForkSafeLock(value)
    }

    /// The value; in a child the value at the fork, or the first value if a thread had the lock then.
    var value: Value {
        get { self.current.value(orInAChild: self.first) }
        nonmutating set { self.change { $0 = newValue } }
    }

    /// Changes the value; does nothing in a child.
    func change(_ body: (inout Value) -> Void) { self.current.change(body) }
}

/// Like `ForkSafe`, but without a first value, to save memory where there are very many.
struct ForkSafeLock<Value: Sendable>: ~Copyable, Sendable {
    private let current: Mutex<Value>
    private let forks = ForkRecord.forks

    init(_ value: Value, rank: LockRank = .leaf) {
        _ = ForkRecord.install
        self.current = Mutex(value, rank: rank)
    }

    /// The value; in a child the value at the fork, or `other` if a thread had the lock then.
    func value(orInAChild other: @autoclosure () -> Value) -> Value { self.read(orInAChild: other()) { $0 } }

    /// A part of the value, without a copy of the rest.
    func read<Part: Sendable>(orInAChild other: @autoclosure () -> Value, _ part: (Value) -> Part) -> Part {
        guard !ForkRecord.isForked(since: self.forks) else {
            return self.current.withLockIfAvailable { part($0) } ?? part(other())
        }
        return self.current.withLock { part($0) }
    }

    /// Changes the value; does nothing in a child.
    func change(_ body: (inout Value) -> Void) {
        guard !ForkRecord.isForked(since: self.forks) else { return }
        self.current.withLock { body(&$0) }
    }

    /// Changes the value if no other thread has the lock now; returns whether it did.
    ///
    /// Does nothing in a child.
    func changeIfAvailable(_ body: (inout Value) -> Void) -> Bool {
        guard !ForkRecord.isForked(since: self.forks) else { return false }
        return self.current.withLockIfAvailable {
            body(&$0)
            return true
        } ?? false
    }
}
