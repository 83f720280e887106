#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Makes this process one of a store's workers; the caller holds the setup lock.
struct Joining {
    let writer: Database
    let lock: LockFile
    let clock: StoreClock
    /// The id that this process already had as a worker; nil at its first opening.
    let previous: WorkerID?
    let name: String?
    let deadline: Deadline

    /// How long living workers may take to lock their bytes in a new lock file; they look for one once a second.
    private static let grace = Duration.seconds(2)

    /// Waits for the living workers to lock their bytes in a new lock file, after another program has removed the old
    /// file.
    ///
    /// Without the wait, this process would release the slots of workers whose probes are running. No other process
    /// replaces the lock file during the wait, since this process holds the setup lock. A worker that is late counts
    /// as dead.
    func waitForLivingWorkers() throws(BreakerStoreError) {
        let others = try self.others(than: self.previous)
        let end = Deadline(after: Self.grace)
        while !end.isOver, !others.allSatisfy({ self.lock.isHeldByAnother(worker: $0) }) {
            end.pause(atMost: .milliseconds(5))
        }
    }

    /// Writes this process's row; returns the file's incarnation, and notes about rows that were repaired first.
    ///
    /// - Parameter mayHaveBadRows: whether the file may have bad rows, which are then searched for and deleted first.
    func register(
        mayHaveBadRows: Bool = false
    ) throws(BreakerStoreError) -> (Worker, incarnation: Int64, repaired: [StoreNote]) {
        let worker = Worker(
            id: try self.lockByte(), name: self.name ?? Worker.processName, pid: getpid(), version: Versions.library)
        do throws(BreakerStoreError) {
            let repaired = mayHaveBadRows ? try self.repair(searchesUnreadable: true) : []
            return (worker, try self.write(worker), repaired)
        } catch {
            // A bad row of a dead worker or of a circuit must not keep this process from opening the store.
            guard error.isRowDamage else { throw error }
            let repaired = try self.repair()
            do throws(BreakerStoreError) {
                return (worker, try self.write(worker), repaired)
            } catch {
                throw error.isRowDamage ? .unwritable(error) : error
            }
        }
    }

    /// Locks a worker's byte and returns the worker's id.
    ///
    /// Done before the row is written: other processes take a row whose byte is free for a dead worker's.
    private func lockByte() throws(BreakerStoreError) -> WorkerID {
        var id = self.previous ?? WorkerID.random(in: LockFile.workers)
        // This process may have the byte already; locking the byte again does no harm.
        while !self.lock.lock(worker: id) {
            guard !self.deadline.isOver else {
                throw BreakerStoreError(
                    code: .busy, message: "could not lock a worker's byte before the deadline", path: self.lock.path)
            }
            id = WorkerID.random(in: LockFile.workers)
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
                SQLValue(worker.id), .text(worker.name), .integer(Int64(worker.pid)), SQLValue(worker.version),
                .integer(now.microseconds)
            )
            if start.isNew { try self.writer.writeCreation(at: now) }
            try self.writer.reserveTime(&start.row, for: now, self.clock)
            return start.row.incarnation
        }
    }

    /// The ids of the other workers.
    ///
    /// Reads no names: one that is too long to be read must not keep this process from opening the store.
    private func others(than own: WorkerID?) throws(BreakerStoreError) -> [WorkerID] {
        try self.writer.all("SELECT id FROM worker WHERE id IS NOT ?1 LIMIT 10000", SQLValue(own)) { $0.worker(0) }
    }

    /// Deletes rows that no version of this library can have written, and returns notes about them.
    ///
    /// - Parameter searchesUnreadable: whether to search first for circuits whose rows SQLite can't read, and to delete
    ///   those, too.
    private func repair(searchesUnreadable: Bool = false) throws(BreakerStoreError) -> [StoreNote] {
        do throws(BreakerStoreError) {
            let unreadable = searchesUnreadable ? try Repair.unreadable(in: self.writer) : [:]
            return try self.writer.transaction(until: self.deadline) { () throws(BreakerStoreError) in
                var repair = Repair(self.writer, at: try ClockRow.start(self.writer, self.clock))
                repair.unreadable = unreadable
                try repair.run()
                return repair.notes
            }
        } catch {
            throw error.isRowDamage ? .unwritable(error) : error
        }
    }

    /// Throws if the last writer ran under another boot.
    ///
    /// Called while another worker lives: two kernels would share the file.
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
