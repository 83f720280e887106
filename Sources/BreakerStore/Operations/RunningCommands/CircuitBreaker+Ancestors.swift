extension CircuitBreaker {
    /// How long a process may seem to have started after it has claimed a slot: two clocks are compared.
    private static let clockTolerance: Int64 = 1_000_000

    /// Whether an ancestor of a process holds one of the probes' slots.
    ///
    /// Then the process's call is a part of that probe.
    /// False also if the file can't be read. Reads on the calling thread.
    package func isProbed(byAncestorOf process: RunningProcess) -> Bool {
        guard let holders = try? self.probeHolders(), !holders.isEmpty else { return false }
        var descendant = process
        // No chain of parents is as long as this; a process that ends while it is read breaks it.
        for _ in 0..<10_000 {
            guard let pid = descendant.parent, pid > 0, let ancestor = RunningProcess(pid: pid) else { return false }
            // Another process may have got the id of one that has ended. It has started later than the probe.
            if holders.contains(where: { $0.pid == pid && self.hasStarted(ancestor, before: $0.since) }) { return true }
            descendant = ancestor
        }
        return false
    }

    /// The processes that hold the slots of live probes, and since when.
    private func probeHolders() throws(BreakerStoreError) -> [(pid: Int32, since: StoreTime)] {
        try self.store.view { (view) throws(BreakerStoreError) in
            guard let circuit = try view.database.circuitRow(named: self.name)?.circuit else { return [] }
            let probes = circuit.liveProbes(at: view.moment.now, isAlive: view.moment.isAlive)
            guard !probes.isEmpty else { return [] }
            // Of the worker's row, not of the probe's: a worker may stand for another process, which holds its slot.
            let workers = try view.livingRows()
            return probes.compactMap { probe in
                workers.first { $0.worker.id == probe.worker }.map { ($0.worker.pid, probe.since) }
            }
        }
    }

    private func hasStarted(_ process: RunningProcess, before time: StoreTime) -> Bool {
        #if os(Linux)
        guard self.core.clock.isSystem else { return true }
        // Hundredths of a second.
        let (start, overflow) = process.start.multipliedReportingOverflow(by: 10_000)
        let latest = self.core.clock.uptime(of: time).adding(Self.clockTolerance)
        return !overflow && Uptime(microseconds: start) <= latest
        #else
        // There the start is a time of the wall clock, which may have been set since.
        return true
        #endif
    }
}
