/// Calls that one process lets through, and another one reports.
extension CircuitBreaker {
    /// Lets one call through, which any process may report; claims a probe's slot on the calling thread.
    ///
    /// The slot of a probe lasts as long as this store is open, or as another process keeps its worker
    /// (`CircuitStore.leaveWorker`).
    package func admitTicket() throws(CircuitOpenError) -> CallTicket {
        var call = Call(.permit)
        return self.ticket(of: try self.admission(by: self.advance(&call, nil)))
    }

    private func ticket(of admission: Admission) -> CallTicket {
        let source = CallTicket.Source(admission.source)
        guard source != .none,
            let incarnation = try? self.core.read({ (database) throws(BreakerStoreError) in
                try ClockRow.read(database)?.incarnation
            })
        else {
            if admission.isProbe { self.reportLater(.ignored, of: admission) }
            return CallTicket(source: .none)
        }
        return CallTicket(
            source: source, epoch: admission.epoch, token: admission.token, incarnation: incarnation,
            boot: self.core.bootNumber, began: self.core.clock.uptime.microseconds, key: self.core.newToken())
    }

    /// Reports the outcome of a ticket; commits on the calling thread.
    ///
    /// A second report of a failure or of a probe is late. A success has no row: reported twice, it is counted twice.
    /// - Parameters:
    ///   - ticket: from `admitTicket`, of this or another process.
    ///   - verdict: how the call ended.
    ///   - error: the text to store for a failure.
    ///   - reporter: the number of the process that has made the call, as `RunningProcess.reporter`; nil for this one.
    package func finish(
        _ ticket: CallTicket, _ verdict: Verdict, error: String? = nil, reporter: WorkerID? = nil
    ) throws(BreakerStoreError) -> CallTicket.Report {
        guard ticket.source != .none else { return .counted }
        guard ticket.boot == self.core.bootNumber else { return .ofAnotherFile }
        if let reporter { self.core.keys.setReporter(reporter, after: ticket.key) }
        var admission = Admission(ticket)
        let refreshed = self.readAtEnd()
        let isOfEpoch = refreshed.decision.map { $0.epoch == ticket.epoch } ?? true
        if admission.isOfFile, !isOfEpoch, verdict.outage == nil {
            return try self.isOfFile(ticket) ? .late : .ofAnotherFile
        }
        var outcome = Outcome(verdict: verdict, text: error.map(StoredText.cut))
        if self.circuit.counts.hasSlowRule {
            admission.began = Uptime(microseconds: ticket.began)
            outcome.duration = self.duration(of: admission)
        }
        let pending = PendingOutcome(outcome, admission, self.facts(outcome), refreshed)
        guard try self.commit(pending, of: ticket) else {
            return try self.isOfFile(ticket) ? .late : .ofAnotherFile
        }
        if let duration = pending.duration { self.circuit.counts.durations.add(duration) }
        if let lane = pending.lane { self.circuit.counts.lanes.add(lane) }
        if pending.report != .none { self.readDecision() }
        guard self.count(pending) != nil, case .decisive(let epoch) = pending.failure?.counting else {
            return .counted
        }
        let (core, circuit, text) = (self.core, self.circuit, self.text(of: pending.outcome))
        try core.commit(until: self.store.deadline) { (transaction) throws(BreakerStoreError) in
            try core.tripByRate(circuit, epoch: epoch, error: text, transaction)
        }
        return .counted
    }

    /// Reports an outcome without a ticket, of a call that another process has made.
    ///
    /// - Parameter reporter: the number of that process.
    package func record(_ verdict: Verdict, error: String? = nil, reporter: WorkerID?) {
        if let reporter { self.core.keys.setReporter(reporter, after: self.core.newToken() >> 1) }
        var call = Call(.record(Outcome(verdict: verdict, text: error.map(StoredText.cut))))
        _ = self.advance(&call, nil)
    }

    /// Extends the lease of a probe's slot by the rule's lease; commits on the calling thread.
    ///
    /// - Returns: the lease, by whose half the next renewal is due; nil if the slot is gone.
    package func renewProbe(token: Int64, epoch: Epoch) throws(BreakerStoreError) -> Duration? {
        let (name, config) = (self.name, self.circuit.registeredConfig)
        return try self.core.commit(until: self.store.deadline) { (transaction) throws(BreakerStoreError) in
            let lease = try transaction.change(name, own: config) { (circuit, moment, _) -> Duration? in
                circuit.probeRenewed(token: token, epoch: epoch, at: moment.now) ? circuit.rules.probes.lease : nil
            }
            return lease.flatMap(\.self)
        }
    }

    // MARK: - Reports

    /// What a read finds now; without a valid reading only the commit decides.
    private func readAtEnd() -> Call.Refreshed {
        Call.Refreshed(decision: self.readDecision(), mayUseFile: self.mayUseFile, facts: self.facts(.success))
    }

    private func isOfFile(_ ticket: CallTicket) throws(BreakerStoreError) -> Bool {
        try self.core.read { (database) throws(BreakerStoreError) in
            try ClockRow.read(database)?.incarnation == ticket.incarnation
        }
    }

    /// Commits the report of an outcome; returns false if it is late, or was committed before.
    private func commit(_ pending: PendingOutcome, of ticket: CallTicket) throws(BreakerStoreError) -> Bool {
        let (name, config) = (self.name, self.circuit.registeredConfig)
        let outcome = pending.outcome
        let isFailure = pending.failure != nil
        guard pending.report != .none || pending.admission.isOfFile else { return try self.isOfFile(ticket) }
        var report = self.newReport(ticket.epoch, outcome)
        report.sequence = ticket.key
        // The report may have been committed before, by a process that was killed then.
        report.isRetry = true
        return try self.core.commit(until: self.store.deadline) { [report] (transaction) throws(BreakerStoreError) in
            guard transaction.incarnation == ticket.incarnation else { return false }
            let action = try transaction.change(name, own: config) { circuit, moment, failures in
                switch ticket.source {
                case .probe:
                    circuit.probeEnded(token: ticket.token, outcome.verdict, report, at: moment)
                case .closed, .closedConsecutive:
                    isFailure
                        ? circuit.ticketFailed(
                            report, isFailed: outcome.verdict.isFailure, at: moment, among: failures,
                            isAlive: transaction.isAlive)
                        : circuit.ticketSucceeded(report, forgets: pending.report == .success, at: moment)
                case .uncounted, .observed, .none: Circuit.ReportAction.unchanged
                }
            }
            return action.map { $0 != .stale } ?? false
        }
    }
}

extension Circuit {
    /// Applies a failed or slow call that was let through with a ticket, unless a row shows that it counts already.
    ///
    /// Such a call has a row under each rule, also where the board counts the calls. Rows that are older than all
    /// windows go.
    fileprivate mutating func ticketFailed(
        _ report: Report, isFailed: Bool, at moment: Moment, among kept: some KnownFailures, isAlive: (WorkerID) -> Bool
    ) -> ReportAction {
        if kept.contains(worker: report.worker, sequence: report.sequence) { return .stale }
        let isCounted = self.hold == nil && self.state == .closed && report.epoch == self.epoch
        guard isCounted || report.outage != nil else { return .stale }
        let hasRow = self.rules.keepsFailures
        let action = isFailed ? self.callFailed(report, at: moment, among: kept, isAlive: isAlive) : .unchanged
        if isCounted, action == .unchanged, !hasRow, let window = self.rules.longestRateWindow {
            self.change(.dropBefore(moment.now.subtracting(window)))
            self.change(.insert(Failure(at: moment.now, worker: report.worker, sequence: report.sequence)))
        }
        return action
    }

    /// - Parameter forgets: whether there are failures for the success to forget.
    fileprivate mutating func ticketSucceeded(_ report: Report, forgets: Bool, at moment: Moment) -> ReportAction {
        guard report.epoch == self.epoch else { return .stale }
        return forgets ? self.callSucceeded(report, at: moment) : .unchanged
    }
}

extension StoreCore {
    /// A number for the boot, small enough for a ticket.
    fileprivate var bootNumber: UInt32 {
        var fingerprint = Fingerprint()
        fingerprint.add(bytesOf: self.clock.host.bootID)
        return UInt32(truncatingIfNeeded: fingerprint.value)
    }
}
