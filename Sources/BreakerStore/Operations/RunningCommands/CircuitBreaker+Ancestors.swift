extension CircuitBreaker {
    /// Whether an ancestor of a process holds one of the probes' slots.
    ///
    /// Then the process's call is a part of that probe.
    /// False also if the file can't be read. Reads on the calling thread.
    package func isProbed(byAncestorOf process: RunningProcess) -> Bool {
        guard let probes = try? self.liveProbes(), !probes.isEmpty else { return false }
        return process.ancestors.contains { ancestor in
            probes.contains { $0.prober?.pid == ancestor.pid && ancestor.hasMarked($0.token) }
        }
    }

    private func liveProbes() throws(BreakerStoreError) -> [Circuit.Probe] {
        try self.store.view { (view) throws(BreakerStoreError) in
            let circuit = try view.database.circuitRow(named: self.name)?.circuit
            return circuit?.liveProbes(at: view.moment.now, isAlive: view.moment.isAlive) ?? []
        }
    }
}
