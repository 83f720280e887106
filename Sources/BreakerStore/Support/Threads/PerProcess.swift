import Synchronization

/// A value that each process makes for itself at its first use.
///
/// A child of `fork` must not use its parent's value: another thread of the parent may have held a lock in it, which
/// stays held forever in the child. Reading the value takes no lock.
///
/// Neither `MadeValue` nor the atomic is generic over the value's type: for the first such type of a kind, the runtime
/// searches all loaded libraries for conformances.
@safe
struct PerProcess<Value: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The address of a `MadeValue` to which this holds a reference; 0 before the first value is made.
    private let made = Atomic<UInt>(0)
    private let make: @Sendable () -> Value

    init(_ make: @escaping @Sendable () -> Value) {
        _ = ForkRecord.install
        self.make = make
    }

    deinit {
        let made = unsafe MadeValue.at(self.made.load(ordering: .acquiring))
        // A parent's value is not released: freeing it could take locks.
        if let made = unsafe made, unsafe made.takeUnretainedValue().forks == ForkRecord.forks { unsafe made.release() }
    }

    /// The value of this process; nil if this process has not made one.
    var known: Value? { self.value(at: self.made.load(ordering: .acquiring)) }

    private func value(at address: UInt) -> Value? {
        guard let made = unsafe MadeValue.at(address)?.takeUnretainedValue(), made.forks == ForkRecord.forks else {
            return nil
        }
        // Safe: only `value` below stores an address, and the object there holds what `make` has returned.
        return unsafe unsafeDowncast(made.value, to: Value.self)
    }

    var value: Value {
        while true {
            let known = self.made.load(ordering: .acquiring)
            if let value = self.value(at: known) { return value }
            let new = self.make()
            let retained = unsafe Unmanaged.passRetained(MadeValue(new))
            let (isFirst, _) = unsafe self.made.compareExchange(
                expected: known, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
            if isFirst { return new }
            unsafe retained.release()
        }
    }
}

/// A value that a process has made, with the number of that process (`ForkRecord.forks`).
private final class MadeValue: Sendable {
    let forks = ForkRecord.forks
    let value: any AnyObject & Sendable

    init(_ value: any AnyObject & Sendable) { self.value = value }

    static func at(_ address: UInt) -> Unmanaged<MadeValue>? {
        unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
    }
}
