import CBreakerStore

/// A flag for the loss of a board: set by the handler of SIGBUS, in a child of `fork`, and by a check that finds
/// damage.
///
/// Sendable: the pointer never changes, and only atomic operations read and write the memory behind it.
@safe
final class BoardLoss: @unchecked Sendable {
    let flag: UnsafeMutablePointer<UInt32>

    init() {
        unsafe self.flag = .allocate(capacity: 1)
        unsafe self.flag.initialize(to: 0)
    }

    deinit { unsafe self.flag.deallocate() }

    var isLost: Bool { unsafe bs_is_lost(self.flag) != 0 }

    func lose() { unsafe bs_lose(self.flag) }
}
