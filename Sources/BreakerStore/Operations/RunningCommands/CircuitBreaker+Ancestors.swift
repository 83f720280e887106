extension CircuitBreaker {
    /// How long a process may seem to have started after it has claimed a slot: two clocks are compared.
    private static let clockTolerance: Int64 = 1_000_000

    /// Whether an ancestor of a process holds one of the probes' slots.
    ///
    /// Then the process's call is a part of that probe.
    /// False also if the file can't be read. Reads on the calling thread.
    package func isProbed(byAncestorOf process: RunningProcess) -> Bool {
        guard let holders = try? self.probeHolders(), !holders.isEmpty else { return false }
        return process.ancestors.contains { ancestor in
            // Another process may have got the id of one that has ended. It has started later than the probe.
            holders.contains { $0.pid == ancestor.pid && self.hasStarted(ancestor, before: $0.since) }
        }
    }

    /// The processes that hold the slots of live probes, and since when.
    private func probeHolders() throws(BreakerStoreError) -> [(pid: Int32, since: StoreTime)] {
        try self.store.view { (view) throws(BreakerStoreError) in
            guard let circuit = try view.database.circuitRow(named: self.name)?.circuit else { return [] }
            let probes = circuit.liveProbes(at: view.moment.now, isAlive: view.moment.isAlive)
            return probes.compactMap { probe in probe.prober.map { ($0.pid, probe.since) } }
        }
    }

    private func hasStarted(_ process: RunningProcess, before time: StoreTime) -> Bool {
        #if os(Linux)
        // A test's clock has another uptime.
        guard self.core.clock.isSystem else { return true }
        // 'start' is in hundredths of a second.
        let (start, overflow) = process.start.multipliedReportingOverflow(by: 10_000)
        let latest = self.core.clock.uptime(of: time).adding(Self.clockTolerance)
        return !overflow && Uptime(microseconds: start) <= latest
        #else
        // There the start is a time of the wall clock, which may have been set since.
        return true
        #endif
    }
}
