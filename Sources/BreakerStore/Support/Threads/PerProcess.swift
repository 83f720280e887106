import Synchronization

/// Something that each process makes for itself when it first needs it.
///
/// A child of `fork` must not use its parent's: another thread of the parent may have held a lock in it, which stays
/// held in the child for ever. Asking for it takes no lock.
///
/// Neither a class nor an atomic of the type of the value: to make these types for the first of a kind, the runtime
/// looks for conformances in all libraries that are loaded.
@safe
struct PerProcess<Value: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The address of a `MadeValue` that this holds a reference to; 0 before the first.
    private let made = Atomic<UInt>(0)
    private let make: @Sendable () -> Value

    init(_ make: @escaping @Sendable () -> Value) {
        _ = ForkRecord.install
        self.make = make
    }

    deinit {
        let made = unsafe MadeValue.at(self.made.load(ordering: .acquiring))
        // What the parent made is left alone: to free it could take locks.
        if let made = unsafe made, unsafe made.takeUnretainedValue().forks == ForkRecord.forks { unsafe made.release() }
    }

    /// What this process has made; nil if it has made nothing.
    var known: Value? { self.value(at: self.made.load(ordering: .acquiring)) }

    private func value(at address: UInt) -> Value? {
        guard let made = unsafe MadeValue.at(address)?.takeUnretainedValue(), made.forks == ForkRecord.forks else {
            return nil
        }
        // The only place that stores an address is below, and there it is that of what `make` has returned.
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

/// What a process has made, and which process that was.
private final class MadeValue: Sendable {
    let forks = ForkRecord.forks
    let value: any AnyObject & Sendable

    init(_ value: any AnyObject & Sendable) { self.value = value }

    static func at(_ address: UInt) -> Unmanaged<MadeValue>? {
        unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
    }
}
