/// The right to be the link between one file and other hosts; at most one link of the host has it.
///
/// Other links stand by. The right is byte 1 of the lock file, on this seat's own descriptor, so that two links of one
/// process exclude each other too. The kernel releases the byte whenever the process ends. A child of `fork` does not
/// have the seat: the child has closed the descriptor.
package final class LinkSeat: Sendable {
    private let path: String
    private let held = ForkSafeLock<LockFile?>(nil, rank: .seat)
    private let forks = ForkRecord.forks

    /// Makes a seat that is not taken; opens no file.
    package init(of store: CircuitStore) { self.path = store.backend.file.lock }

    deinit {
        guard self.forks != ForkRecord.forks else { return self.leave() }
        // Never released: the number of the closed descriptor may belong to the child's own lock file by now.
        if let lock = self.held.value(orInAChild: nil) { _ = unsafe Unmanaged.passRetained(lock) }
    }

    /// Takes the seat, unless this link has it already; returns whether this link has it now.
    ///
    /// False while another link has the seat, or the store has no lock file. Notices a lock file that was removed or
    /// replaced: other links take their seats by the file at the path. Never waits, and may be called from any thread.
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

    /// Releases the seat for another link.
    package func leave() {
        self.held.change { held in
            // Closing the descriptor does not free the byte while a newly forked child has not closed its copy yet.
            held?.unlockLink()
            held = nil
        }
    }

    private func lock() -> LockFile? {
        // Opening a lock file that was cut short would write to it. Only a process that opens the store may do so.
        guard LockFile.exists(at: self.path),
            let lock = try? LockFile(path: self.path, creatingWith: nil, owner: nil),
            // Other links do not take their seats by a file that was replaced before its byte was locked.
            lock.lockLink(), lock.isInPlace
        else { return nil }
        return lock
    }
}
