import Synchronization

/// Shows other processes, by bytes of the lock file, that this worker can't use the store's file.
///
/// Callers lock the bytes as soon as the file is lost, before they learn of the loss themselves. No lock is held here
/// while a path is looked up, which may hang with the file system: no caller waits longer than for a call of fcntl(2).
final class DegradedMark: Sendable {
    private struct State {
        var lock: LockFile?
        var worker: WorkerID?
        /// The bytes that are locked in `lock`.
        var locked: DegradedBytes?
    }

    private let state = Mutex(State(), rank: .mark)

    /// Uses the lock file in which this process has locked its worker's byte.
    func joined(_ lock: LockFile, as worker: WorkerID) { self.use(lock, as: worker) }

    /// Finds the lock file again if it was never opened or was replaced; called where a lookup may take long.
    func findLockFile(at path: String) {
        if self.state.withLock({ $0.lock })?.isInPlace == true { return }
        // Opening a lock file that was cut short would write to it. Only an opening of the store may do so.
        guard LockFile.exists(at: path), let lock = try? LockFile(path: path, creatingWith: nil, owner: nil) else {
            return
        }
        self.use(lock, as: nil)
    }

    private func use(_ lock: LockFile, as worker: WorkerID?) {
        self.state.withLock { state in
            if state.lock === lock, worker == nil || state.worker == worker { return }
            if let locked = state.locked { state.lock?.unlock(locked) }
            state = State(lock: lock, worker: worker ?? state.worker)
        }
    }

    /// Locks the bytes while the file can't be used, else unlocks them.
    ///
    /// - Parameter reason: returns why the file can't be used; nil if it can. Called under this value's lock, so that
    ///   of several threads the last one leaves the bytes right.
    func update(_ reason: () -> BreakerStoreError.Code?) {
        self.state.withLock { state in
            guard let lock = state.lock else { return }
            guard let reason = reason() else {
                if let locked = state.locked { lock.unlock(locked) }
                state.locked = nil
                return
            }
            // A process that has never been able to use the file has no worker id yet.
            let worker = state.worker ?? .random(in: LockFile.workers)
            let bytes = DegradedBytes(worker: worker, reason: reason)
            // Replaces the lock for another reason: the number of locked bytes shows the reason.
            guard bytes != state.locked, lock.lock(bytes) else { return }
            (state.worker, state.locked) = (worker, bytes)
        }
    }

    /// Unlocks the bytes, and releases the lock file.
    func leave() {
        self.state.withLock { state in
            if let locked = state.locked { state.lock?.unlock(locked) }
            state = State()
        }
    }
}
