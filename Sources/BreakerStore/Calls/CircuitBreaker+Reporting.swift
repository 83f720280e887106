/// Makes reports, and reports the outcomes of permits.
extension CircuitBreaker {
    /// The outcome of a failure that the user's code reports explicitly: it counts even if the reporting task is
    /// cancelled.
    func reportedOutcome(_ error: (any Error)?) -> Outcome {
        guard let error else { return Outcome(verdict: .failure) }
        return Cancellation.$isDisregarded.withValue(true) { self.outcome(of: error) }
    }

    /// The text that is stored for a failure.
    ///
    /// The policy makes the text only here, because describing an error costs more than counting it.
    func text(of outcome: Outcome) -> String? {
        guard outcome.verdict.isFailure else { return nil }
        return outcome.text ?? outcome.error.map { StoredText.cut(self.policy.describe($0)) }
    }

    /// Reports without waiting for the commit, which the store's thread makes.
    func reportLater(_ outcome: Outcome, of admission: Admission) {
        self.advanceLater(Call(.unattended, admittedBy: admission), self.ended(outcome))
    }

    // MARK: - Reports

    /// Makes the report of an outcome; nil if there is none for the file.
    ///
    /// An outcome for the in-memory fallback is applied here: the fallback let the call through, or the file may not be
    /// used.
    func makeReport(_ pending: PendingOutcome) -> OutcomeReport? {
        let (outcome, admission) = (pending.outcome, pending.admission)
        switch pending.report {
        case .none: return nil
        case .inMemory:
            self.countInMemory(outcome, of: admission)
            return nil
        case .probe:
            return .probeEnded(
                self.newReport(admission.epoch, outcome), outcome.verdict, token: admission.token)
        case .success: return .succeeded(self.newReport(admission.epoch, .success))
        case .failure: return .failed(self.newReport(admission.epoch, outcome))
        case .recorded:
            let report = OutcomeReport.recorded(
                self.newReport(0, outcome), failed: outcome.verdict.isFailure, token: self.core.newToken())
            if self.mayUseFile { return report }
            self.countInMemory(report)
            return nil
        }
    }

    func newReport(_ epoch: Epoch, _ outcome: Outcome) -> Report {
        let key = self.core.keys.next()
        return Report(
            worker: key.worker,
            sequence: key.sequence,
            epoch: epoch,
            at: self.core.clock.now,
            error: self.text(of: outcome),
            outage: outcome.verdict.outage,
            replacedFiles: self.core.outbox.replacedFiles
        )
    }

    /// Records a committed failure for the in-memory fallback.
    ///
    /// With `readsFirst`, first reads the circuit after a commit that may have begun a new window or registered it
    /// again, so that the counts follow. A failure of an admitted call can only trip the circuit: the next call reads.
    func applyCommitted(_ report: OutcomeReport, readsFirst: Bool) {
        switch report {
        case .probeEnded: if readsFirst { self.readDecision() }
        case .recorded(let failure, let failed, token: _):
            if readsFirst { self.readDecision() }
            if failed { self.circuit.recordOwnFailure(failure, inEpoch: self.circuit.lastRead?.epoch ?? 0) }
        case .failed(let failure): self.circuit.recordOwnFailure(failure, inEpoch: failure.epoch)
        case .failedUnread(let failure):
            self.circuit.recordOwnFailure(failure, inEpoch: self.circuit.lastRead?.epoch ?? 0)
        case .succeeded: break
        }
    }
}
