/// The in-memory fallback: admits and counts calls while the file can't be used.
extension CircuitBreaker {
    func admitByFallback() -> Call.Input {
        if !self.store.gate.isForked { self.core.startThread() }
        let token = self.core.newToken()
        let now = self.core.clock.now
        let (decision, lastError) = self.inMemory(at: now) { circuit, moment, _ in
            (
                circuit.callArrived(at: moment, claiming: Circuit.Claim(token: token, worker: .fallback)),
                circuit.lastError
            )
        }
        if case .proceed(let epoch) = decision { self.circuit.counts.setFallback(inEpoch: epoch) }
        return Call.Input(decision, inMemory: true, lastError: lastError, uptime: self.core.clock.uptime)
    }

    /// Applies to the in-memory fallback a report that could not be committed; keeps failures and probes' outcomes for
    /// the file.
    func countInMemory(_ report: OutcomeReport) {
        switch report {
        case .failed(let failure), .failedUnread(let failure):
            self.count(failure, failed: true)
            self.keep(report)
        case .succeeded(let success):
            self.count(success, failed: false)
        case .probeEnded(let ended, let verdict, token: _):
            if verdict != .ignored { self.count(ended, failed: verdict.isFailure) }
            // As soon as the file can be used again, the probe's slot must be freed there.
            self.keep(report)
        case .recorded(let recorded, let failed, token: _):
            self.count(recorded, failed: failed)
            if failed { self.keepFailure(recorded) }
        }
    }

    /// Applies the outcome of a call that the fallback let through; a failure is kept for the file, too.
    func countInMemory(_ outcome: Outcome, of admission: Admission) {
        let report = self.newReport(admission.epoch, outcome)
        switch (admission.isProbe, outcome.verdict) {
        case (true, let verdict):
            self.apply(.probeEnded(report, verdict, token: admission.token), at: report.at)
            // Only this process knows of the outage. The file gets it as a failure's, because it has no such probe.
            if report.outage != nil { self.keepFailure(report) }
        case (false, .failure), (false, .outage):
            self.apply(.failed(report), at: report.at)
            self.keepFailure(report)
        case (false, .success): self.apply(.succeeded(report), at: report.at)
        case (false, .ignored): break
        }
    }

    /// Applies to the fallback the report of a call that the file let through, as one of a call without an admission:
    /// so it counts in any state that the fallback has.
    private func count(_ report: Report, failed: Bool) {
        self.apply(.recorded(report, failed: failed, token: self.core.newToken()), at: report.at)
    }

    private func apply(_ report: OutcomeReport, at now: StoreTime) {
        self.inMemory(at: now) { circuit, moment, failures in
            _ = circuit.apply(
                report, at: moment, among: failures, claiming: { Circuit.Claim(token: $0, worker: .fallback) })
        }
    }

    /// Keeps a failure for the file, of a call that the file did not admit.
    ///
    /// The failure counts there if the circuit is still in the epoch that was read last, or if no epoch was ever read.
    private func keepFailure(_ report: Report) {
        guard let epoch = self.circuit.lastRead?.epoch else {
            self.keep(.failedUnread(report))
            return
        }
        var report = report
        report.epoch = epoch
        self.keep(.failed(report))
    }

    private func keep(_ report: OutcomeReport) {
        guard self.mayUseFile else { return }
        self.core.outbox.keep(
            PendingReport(
                circuit: self.circuit, report: report, uptime: self.core.clock.uptime(of: report.endedAt)))
    }

    /// Applies one event to the in-memory fallback.
    func inMemory<Value: Sendable>(
        at now: StoreTime, _ event: (inout Circuit, Moment, FailureList) -> Value
    ) -> Value {
        self.circuit.changeInMemory(at: now, offset: self.core.clock.offset, event)
    }

    /// Applies to the in-memory fallback an operator's command that could not be committed.
    ///
    /// For a closed store, and in a child of `fork`, no commit will ever succeed: only here can a reset, or the release
    /// of a hold, take effect.
    func commandFailed(_ command: (inout Circuit, StoreTime) -> Void) {
        guard !self.mayUseFile || self.core.isDegraded else { return }
        let now = self.core.clock.now
        self.inMemory(at: now) { circuit, _, _ in command(&circuit, now) }
    }
}
