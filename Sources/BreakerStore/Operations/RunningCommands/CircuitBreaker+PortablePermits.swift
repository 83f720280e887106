/// Calls that one process lets through, and another one reports.
extension CircuitBreaker {
    /// Lets one call through, which any process may report; claims a probe's slot on the calling thread.
    ///
    /// The slot of a probe lasts as long as this store is open, or as another process keeps its worker
    /// (`CircuitStore.handOverWorker`).
    package func admitPortable() throws(CircuitOpenError) -> PortablePermit {
        var call = Call(.permit)
        return self.permitOrRelease(try self.admission(by: self.advance(&call, nil)))
    }

    /// The permit of an admission; where another process can't report the call, releases a probe's slot.
    private func permitOrRelease(_ admission: Admission) -> PortablePermit {
        let source = PortablePermit.Source(admission.source)
        guard source != .unreported, let incarnation = try? self.core.readIncarnation() else {
            if admission.isProbe { self.reportLater(.ignored, of: admission) }
            return .unreported
        }
        return PortablePermit(
            source: source, epoch: admission.epoch, token: admission.token, incarnation: incarnation,
            boot: self.core.bootHash, began: self.core.clock.uptime.microseconds, reportKey: self.core.newToken())
    }

    /// Reports the outcome of a permit; commits on the calling thread.
    ///
    /// A second report of a failure or of a probe is late for as long as the first one counts. A success has no row:
    /// reported twice, it is counted twice. An outage of a call from before the circuit was closed or reset is late.
    ///
    /// - Parameters:
    ///   - permit: from `admitPortable`, of this or another process.
    ///   - verdict: how the call ended.
    ///   - error: the text to store for a failure.
    ///   - reporter: the number of the process that has made the call, as `RunningProcess.reporter`. All later reports
    ///     of this store are made under it, too. Nil keeps the number that was set last, at first this process's own.
    package func finish(
        _ permit: PortablePermit, _ verdict: Verdict, error: String? = nil, reporter: WorkerID? = nil
    ) throws(BreakerStoreError) -> PortablePermit.FinishResult {
        guard permit.source != .unreported else { return .done }
        guard permit.boot == self.core.bootHash else { return .ofAnotherBootOrFile }
        var admission = Admission(permit)
        let refreshed = self.readWithoutOpenTime()
        var outcome = Outcome(verdict: verdict, text: error.map(StoredText.cut))
        if self.circuit.counts.hasSlowRule {
            admission.began = Uptime(microseconds: permit.began)
            outcome.duration = self.duration(of: admission)
        }
        let pending = PendingOutcome(outcome, admission, self.facts(outcome), refreshed)
        if let reporter { self.core.keys.setReporter(reporter, after: permit.reportKey) }
        let result = try self.commit(pending, of: permit)
        guard result == .done else { return result }
        if let duration = pending.duration { self.circuit.counts.durations.add(duration) }
        if let lane = pending.lane { self.circuit.counts.lanes.add(lane) }
        if pending.report != .none { self.readDecision() }
        guard self.count(pending) != nil, case .decisive(let epoch) = pending.failure?.counting else { return .done }
        let (core, circuit, text) = (self.core, self.circuit, self.text(of: pending.outcome))
        try core.commit(until: self.store.deadline) { (transaction) throws(BreakerStoreError) in
            try core.tripByRate(circuit, epoch: epoch, error: text, transaction)
        }
        return .done
    }

    /// Reports an outcome without a permit, of a call that another process has made.
    ///
    /// - Parameter reporter: the number of that process, as in `finish`.
    package func record(_ verdict: Verdict, error: String? = nil, reporter: WorkerID?) {
        if let reporter { self.core.keys.setReporter(reporter, after: self.core.newToken()) }
        var call = Call(.record(Outcome(verdict: verdict, text: error.map(StoredText.cut))))
        _ = self.advance(&call, nil)
    }

    /// Extends the lease of a probe's slot by the rule's lease; commits on the calling thread.
    ///
    /// - Returns: the lease, by whose half the next renewal is due; nil if the slot is gone.
    package func renewProbe(token: Int64, epoch: Epoch) throws(BreakerStoreError) -> Duration? {
        let (name, config) = (self.name, self.circuit.registeredConfig)
        return try self.core.commit(until: self.store.deadline) { (transaction) throws(BreakerStoreError) in
            var lease: Duration?
            _ = try transaction.change(name, own: config) { circuit, moment, _ in
                circuit.sweepDeadProbes(isAlive: transaction.isAlive)
                guard circuit.probeRenewed(token: token, epoch: epoch, at: moment.now) else { return }
                lease = circuit.rules.probes.lease
            }
            return lease
        }
    }

    // MARK: - Reports

    /// What a read finds now.
    ///
    /// Without the time for which the circuit stays open. With it, an outage that ends no later would not be committed,
    /// and only the commit shows that a permit was finished before.
    private func readWithoutOpenTime() -> Call.Refreshed {
        Call.Refreshed(decision: self.readDecision(), mayUseFile: self.mayUseFile, facts: self.facts(.success))
    }

    /// Commits the report of an outcome.
    private func commit(
        _ pending: PendingOutcome, of permit: PortablePermit
    ) throws(BreakerStoreError) -> PortablePermit.FinishResult {
        let (name, config) = (self.name, self.circuit.registeredConfig)
        let (outcome, admission) = (pending.outcome, pending.admission)
        let isFailure = pending.failure != nil
        guard admission.isProbe || admission.isClosedInFile else {
            return try self.core.readIncarnation() == permit.incarnation ? .done : .ofAnotherBootOrFile
        }
        let clock = self.core.clock
        var report = self.newReport(permit.epoch, outcome)
        report.sequence = permit.reportKey
        // The report may have been committed before, by a process that was killed then.
        report.isRetry = true
        return try self.core.commit(until: self.store.deadline) { [report] (transaction) throws(BreakerStoreError) in
            guard transaction.incarnation == permit.incarnation else { return .ofAnotherBootOrFile }
            let action = try transaction.change(name, own: config) { circuit, moment, failures in
                var report = report
                // A permit that is finished again may come after the circuit has recovered from its outage.
                if let cleared = circuit.clearedAt, Uptime(microseconds: permit.began) < clock.uptime(of: cleared) {
                    report.outage = nil
                }
                if admission.isProbe {
                    // The permit of a dead keeper has no slot, also if no other process has taken the slot yet.
                    circuit.sweepDeadProbes(isAlive: transaction.isAlive)
                    return circuit.probeEnded(token: permit.token, outcome.verdict, report, at: moment)
                }
                if isFailure {
                    return circuit.failedOrSlow(
                        report, isFailed: outcome.verdict.isFailure, at: moment, among: failures,
                        isAlive: transaction.isAlive)
                }
                return circuit.succeededOrIgnored(report, forgets: pending.report == .success, at: moment)
            }
            // Nil if the file has no such circuit any more.
            guard let action, action != .stale else { return .late }
            return .done
        }
    }
}

extension StoreCore {
    /// A 32-bit hash of the boot's id.
    fileprivate var bootHash: UInt32 {
        var fingerprint = Fingerprint()
        fingerprint.add(bytesOf: self.clock.host.bootID)
        return UInt32(truncatingIfNeeded: fingerprint.value)
    }
}
