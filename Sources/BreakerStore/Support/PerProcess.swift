import Synchronization

/// Something that each process makes for itself when it first needs it.
///
/// A child of `fork` must not use its parent's: another thread of the parent may have held a lock in it, which stays
/// held in the child for ever. Asking for it takes no lock.
@safe
final class PerProcess<Value: AnyObject & Sendable>: Sendable {
    private final class Made: Sendable {
        let forks = ForkRecord.forks
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let made = unsafe Atomic<Unmanaged<Made>?>(nil)
    private let make: @Sendable () -> Value

    init(_ make: @escaping @Sendable () -> Value) {
        _ = ForkRecord.install
        self.make = make
    }

    deinit {
        let made = unsafe self.made.load(ordering: .acquiring)
        // What the parent made is left alone: to free it could take locks.
        if let made = unsafe made, unsafe made.takeUnretainedValue().forks == ForkRecord.forks { unsafe made.release() }
    }

    var value: Value {
        while true {
            let known = unsafe self.made.load(ordering: .acquiring)
            if let made = unsafe known?.takeUnretainedValue(), made.forks == ForkRecord.forks { return made.value }
            let new = Made(self.make())
            let retained = unsafe Unmanaged.passRetained(new)
            let (isFirst, _) = unsafe self.made.compareExchange(
                expected: known, desired: retained, ordering: .acquiringAndReleasing)
            if isFirst { return new.value }
            unsafe retained.release()
        }
    }
}
