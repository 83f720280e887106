/// The right to be the link between one file and other hosts: at most one link of the host has it, and others stand by.
///
/// The right is byte 1 of the lock file, on a descriptor of this seat's own, so that two links of one process exclude
/// each other too. The kernel takes it away when the process ends, however that ends. In a child of `fork` the seat is
/// nobody's: the child has closed the descriptor.
package final class LinkSeat: Sendable {
    private let path: String
    private let held = ForkSafeLock<LockFile?>(nil, rank: .seat)
    private let forks = ForkRecord.forks

    /// Opens nothing.
    package init(of store: CircuitStore) { self.path = store.backend.file.lock }

    deinit {
        guard self.forks != ForkRecord.forks else { return self.leave() }
        // Never let go of: the number of the closed descriptor may be that of the child's own lock file by now.
        if let lock = self.held.value(orInAChild: nil) { _ = unsafe Unmanaged.passRetained(lock) }
    }

    /// Takes the seat, or says whether this link still has it.
    ///
    /// False while another link has it, and while no lock file of a store is there. A lock file that was removed or
    /// replaced is noticed: others take their seats by the file that the path leads to. Never waits, and may be called
    /// from any thread.
    package func take() -> Bool {
        var isTaken = false
        self.held.change { held in
            if let held, held.isInPlace {
                isTaken = true
                return
            }
            held = nil
            held = self.lock()
            isTaken = held != nil
        }
        return isTaken
    }

    /// Lets another link have the seat.
    package func leave() {
        self.held.change { held in
            // To close the descriptor does not free the byte while a child, just forked, has not closed its copy yet.
            held?.unlockLink()
            held = nil
        }
    }

    private func lock() -> LockFile? {
        // To open a lock file that was cut short would write to it. That is for those who open the store.
        guard LockFile.exists(at: self.path),
            let lock = try? LockFile(path: self.path, creatingWith: nil, owner: nil),
            // A file that was replaced before its byte was locked is not the one by which others take their seats.
            lock.lockLink(), lock.isInPlace
        else { return nil }
        return lock
    }
}
