import Synchronization

/// Closes a store whose worker must outlive this process, because the process has claimed a probe for another one.
extension CircuitStore {
    /// A further descriptor of the lock file, with the locked byte of this worker; the caller must close it.
    ///
    /// No program that this process runs inherits it by itself. A process to which it is handed keeps the worker alive
    /// after `handOverWorker`, and with the worker its probes' slots.
    package func duplicateLock() throws(BreakerStoreError) -> Int32 {
        let core = try self.usableCore()
        guard let lock = core.answers.lockFile?.duplicateDescriptor() else {
            throw BreakerStoreError(
                code: .unavailable, message: "could not get another descriptor of the lock file",
                path: self.backend.file.lock)
        }
        return lock.detachDescriptor()
    }

    /// Closes the store, and leaves its worker in the file, under the name and the pid of the process that it is for.
    ///
    /// The worker lives as long as any process has a descriptor from `duplicateLock`; then it counts as dead. It uses
    /// no circuit any more, so it answers no question about failure rates. Commits on the calling thread.
    ///
    /// - Parameters:
    ///   - permit: the probe that the worker keeps; from now on its permit is `permit.held(by: process)`.
    ///   - circuit: the probe's circuit.
    package func handOverWorker(
        to process: RunningProcess, named name: String, with permit: PortablePermit, of circuit: String
    ) throws(BreakerStoreError) {
        let core = try self.usableCore()
        let prober = Circuit.Prober(name: String(name.prefix(200)), pid: process.pid)
        try core.commit(until: self.deadline) { (transaction) throws(BreakerStoreError) in
            try transaction.handOverWorker(to: prober)
            _ = try transaction.change(circuit) { circuit, _, _ in
                guard let index = circuit.probes.firstIndex(where: { $0.token == permit.token }) else { return }
                circuit.probes[index].prober = prober
                circuit.probes[index].token = process.marking(permit.token)
            }
        }
        core.writer.keepsWorker.store(true, ordering: .relaxed)
        self.close()
    }
}

extension Transaction {
    /// Gives the worker's row another name and pid, and ends its use of all circuits.
    fileprivate func handOverWorker(to prober: Circuit.Prober) throws(BreakerStoreError) {
        let id = SQLValue(self.worker.id)
        try self.database.run(
            "UPDATE worker SET name = ?2, pid = ?3 WHERE id = ?1", id, .text(prober.name), .integer(Int64(prober.pid)))
        try self.database.run(
            "UPDATE circuit SET registered = ?2 WHERE id IN (SELECT circuit FROM registration WHERE worker = ?1)", id,
            .integer(self.now.microseconds))
        try self.database.run("DELETE FROM registration WHERE worker = ?1", id)
    }
}
