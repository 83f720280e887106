#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Makes a process one of a store's workers, under byte 0 of the lock file.
struct Joining {
    let writer: Database
    let lock: LockFile
    let clock: StoreClock
    /// The number that this process already had as a worker; nil at its first opening.
    let previous: Int64?
    let name: String?
    let deadline: Deadline

    /// How long living workers may take to lock their bytes in a new lock file, for which they look once a second.
    private static let grace = Duration.seconds(2)

    /// Waits for the living workers to lock their bytes in a new lock file, after another program has removed the old
    /// file.
    ///
    /// Without the wait, this process would give away the slots of workers whose probes are running. No other process
    /// makes a lock file meanwhile, for this process has the guard. A worker that is late counts as dead.
    func waitForTheLiving() throws(BreakerStoreError) {
        let others = try self.others(than: self.previous)
        let end = Deadline(after: Self.grace)
        while !end.isOver, !others.allSatisfy({ self.lock.isHeldByAnother(worker: $0) }) {
            end.pause(atMost: .milliseconds(5))
        }
    }

    /// Writes this process's row; returns the file's incarnation, and notes about the rows that had to be mended first.
    ///
    /// - Parameter hasDamagedRow: whether SQLite calls the file broken because of a row.
    func register(
        hasDamagedRow: Bool = false
    ) throws(BreakerStoreError) -> (Worker, incarnation: Int64, healed: [StoreNote]) {
        let worker = Worker(
            id: try self.lockByte(), name: self.name ?? Worker.processName, pid: getpid(), version: Versions.library)
        do throws(BreakerStoreError) {
            let healed = hasDamagedRow ? try self.heal(removesDamaged: true) : []
            return (worker, try self.write(worker), healed)
        } catch {
            // A bad row of a dead worker, or of a circuit, must not keep this process from opening the store.
            guard error.isOfUnusableRow else { throw error }
            let healed = try self.heal()
            do throws(BreakerStoreError) {
                return (worker, try self.write(worker), healed)
            } catch {
                throw error.isOfUnusableRow ? .unwritable(error) : error
            }
        }
    }

    /// Locks the byte of a worker, before its row is written: a row whose byte is free is a dead worker's.
    private func lockByte() throws(BreakerStoreError) -> Int64 {
        var id = self.previous ?? Int64.random(in: LockFile.workers)
        // This process may have the byte already; locking the byte again does no harm.
        while !self.lock.lock(worker: id) {
            guard !self.deadline.isOver else {
                throw BreakerStoreError(code: .busy, message: "no lock can be had", path: self.lock.path)
            }
            id = Int64.random(in: LockFile.workers)
        }
        return id
    }

    /// Writes the worker's row, and removes the rows of dead workers; returns the file's incarnation.
    private func write(_ worker: Worker) throws(BreakerStoreError) -> Int64 {
        try self.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
            let others = try self.others(than: worker.id)
            let dead = others.filter { !self.lock.isHeldByAnother(worker: $0) }
            if dead.count < others.count { try self.requireSameBoot() }
            var start = try ClockRow.start(self.writer, self.clock)
            let now = start.now
            for worker in dead { try self.writer.removeWorker(worker, at: now) }
            try self.writer.run(
                "INSERT OR REPLACE INTO worker (id, name, pid, version, since) VALUES (?1, ?2, ?3, ?4, ?5)",
                .integer(worker.id), .text(worker.name), .integer(Int64(worker.pid)), SQLValue(worker.version),
                .integer(now.microseconds)
            )
            if start.isNew { try self.writer.noteCreation(at: now) }
            try self.writer.reserve(&start.row, for: now, self.clock)
            return start.row.incarnation
        }
    }

    /// The numbers alone: a name that is too long to be read must not keep this process from opening the store.
    private func others(than own: Int64?) throws(BreakerStoreError) -> [Int64] {
        try self.writer.all("SELECT id FROM worker WHERE id IS NOT ?1 LIMIT 10000", SQLValue(own)) { $0.integer(0) }
    }

    private func heal(removesDamaged: Bool = false) throws(BreakerStoreError) -> [StoreNote] {
        do throws(BreakerStoreError) {
            let unreadable = removesDamaged ? try Healing.unreadable(in: self.writer) : [:]
            return try self.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                var healing = Healing(self.writer, at: try ClockRow.start(self.writer, self.clock))
                healing.unreadable = unreadable
                try healing.run()
                return healing.notes
            }
        } catch {
            throw error.isOfUnusableRow ? .unwritable(error) : error
        }
    }

    /// Throws if another boot wrote the file last while another worker lives: two kernels would share the file.
    private func requireSameBoot() throws(BreakerStoreError) {
        guard let row = try ClockRow.read(self.writer), row.boot != self.clock.host.bootID else { return }
        throw BreakerStoreError(
            code: .unsupportedFileSystem,
            message: "a worker of another host or virtual machine has the store open",
            advice: "a store serves one host",
            path: self.writer.connection.path
        )
    }
}
