#if BREAKERSTORE_HOOKS
import CBreakerStore
import Synchronization

/// In debug builds: the standard library's mutex, in a form that the thread sanitizer understands; checks lock order.
///
/// When threads contend, the standard library's own code, which is not instrumented, acquires and releases the lock. So
/// the sanitizer would report each contended section as a race; the atomic shows it that one section happens before the
/// other.
struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Synchronization.Mutex<Value>
    private let order = Atomic<Bool>(false)
    private let rank: LockRank

    init(_ value: consuming sending Value, rank: LockRank = .leaf) {
        self.mutex = Synchronization.Mutex(value)
        self.rank = rank
    }

    func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let bit = UInt64(1) << self.rank.rawValue
        let held = bs_held_ranks()
        precondition(held < bit, "a lock of rank '\(self.rank)' is taken while \(String(held, radix: 2)) are held")
        bs_hold_ranks(held | bit)
        defer { bs_hold_ranks(held) }
        return try self.mutex.withLock { (value) throws(Failure) in
            _ = self.order.load(ordering: .acquiring)
            defer { self.order.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }

    /// Takes the lock without a check of the order, because this call never waits.
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
#else
import Synchronization

typealias Mutex = Synchronization.Mutex

extension Mutex where Value: ~Copyable {
    /// Ignores the rank, which only debug builds check.
    init(_ value: consuming sending Value, rank: LockRank) { self.init(value) }
}
#endif
