/// The right to be the link between one file and other hosts; at most one link of the host has it.
///
/// Other links stand by. The right is byte 1 of the lock file, on this seat's own descriptor, so that two links of one
/// process exclude each other too. The kernel releases the byte whenever the process ends. A child of `fork` does not
/// have the seat: the child has closed the descriptor.
package final class LinkSeat: Sendable {
    private let path: String
    private let held = ForkSafeLock<LockFile?>(nil, rank: .seat)
    private let forks = ForkRecord.forks

    /// Makes a seat that this link does not have yet; opens no file.
    package init(of store: CircuitStore) { self.path = store.backend.file.lock }

    deinit {
        guard ForkRecord.isForked(since: self.forks) else { return self.leave() }
        // In a child of `fork` the lock file is leaked: its descriptor is closed, and the number of that descriptor may
        // belong to the child's own lock file by now.
        if let lock = self.held.value(orInAChild: nil) { _ = unsafe Unmanaged.passRetained(lock) }
    }

    /// Takes the seat, unless this link has it already; returns whether this link has it now.
    ///
    /// False while another link has the seat, or the store has no lock file. Notices a lock file that was removed or
    /// replaced: other links lock the file that is at the path now. Never waits, and may be called from any thread.
    package func take() -> Bool {
        var isHeld = false
        self.held.change { held in
            if let held, held.isInPlace {
                isHeld = true
                return
            }
            held = nil
            held = self.lock()
            isHeld = held != nil
        }
        return isHeld
    }

    /// Releases the seat for another link.
    package func leave() {
        self.held.change { held in
            // Closing the descriptor does not free the byte while a newly forked child has not closed its copy yet.
            held?.unlockLink()
            held = nil
        }
    }

    private func lock() -> LockFile? {
        // Opening a lock file that was cut short would write to it, which only a process that opens the store may do.
        guard LockFile.exists(at: self.path),
            let lock = try? LockFile(path: self.path, creatingWith: nil, owner: nil),
            // A file that was replaced before its byte was locked keeps no other link away.
            lock.lockLink(), lock.isInPlace
        else { return nil }
        return lock
    }
}
