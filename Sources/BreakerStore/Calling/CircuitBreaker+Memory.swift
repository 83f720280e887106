/// Guards in memory while the file can't be used.
extension CircuitBreaker {
    func leaveByMemory() throws(CircuitOpenError) -> Leave {
        if !self.store.gate.isForked { self.core.startThread() }
        let token = self.core.newToken()
        let now = self.core.clock.now
        let (outcome, lastError) = self.inMemory(at: now) { circuit, moment, _ in
            (circuit.callArrived(at: moment, claiming: Circuit.Claim(token: token, worker: 0)), circuit.lastError)
        }
        switch outcome {
        case .proceed(let epoch):
            self.circuit.counts.noteMemory(guardsIn: epoch)
            return Leave(.closedInMemory, epoch: epoch)
        case .probe(let token, let epoch): return Leave(.probeInMemory, epoch: epoch, token: token)
        case .uncounted: return .uncounted
        case .observe: return self.countObserved()
        case .refuse(let cause, let until):
            throw self.makeRefusal(cause, until.map { $0.microseconds(since: now) }, lastError: lastError)
        }
    }

    /// Counts in memory an input that could not be committed; keeps failures and ends of probes for the file.
    func countInMemory(_ input: CircuitInput) {
        switch input {
        case .failed(let report), .failedUnread(let report):
            self.count(report, failed: true)
            self.keep(input)
        case .succeeded(let report):
            self.count(report, failed: false)
        case .probeEnded(_, _, let verdict, let error):
            if verdict != .ignored {
                self.count(self.newReport(0, Ending(verdict: verdict, text: error)), failed: verdict.isFailure)
            }
            // As soon as the file is back, it must learn that the probe's slot is free.
            self.keep(input)
        case .recorded(let report, let failed, token: _):
            self.count(report, failed: failed)
            if failed { self.keepFailure(report) }
        }
    }

    /// Counts the end of a call that memory let through; a failure is kept for the file, too.
    func countInMemory(_ ending: Ending, of leave: Leave) {
        let report = self.newReport(leave.epoch, ending)
        self.inMemory(at: report.at) { circuit, moment, failures in
            if leave.isProbe {
                _ = circuit.probeEnded(
                    token: leave.token, epoch: leave.epoch, ending.verdict, error: report.error, at: moment)
            } else if ending.verdict.isFailure {
                _ = circuit.callFailed(report, at: moment, among: failures)
            } else if ending.verdict == .success {
                _ = circuit.callSucceeded(report, at: moment)
            }
        }
        if !leave.isProbe, ending.verdict.isFailure { self.keepFailure(report) }
    }

    private func count(_ report: Report, failed: Bool) {
        let claim = Circuit.Claim(token: self.core.newToken(), worker: 0)
        self.inMemory(at: report.at) { circuit, moment, failures in
            var report = report
            report.epoch = circuit.epoch
            _ = circuit.recorded(report, failed: failed, claiming: claim, at: moment, among: failures)
        }
    }

    /// Keeps for the file a failure of a call that the file did not admit.
    ///
    /// The failure counts there if the circuit's epoch is still the epoch that was read last, or if no epoch was ever
    /// read.
    private func keepFailure(_ report: Report) {
        guard let epoch = self.circuit.lastRead?.epoch else {
            self.keep(.failedUnread(report))
            return
        }
        var report = report
        report.epoch = epoch
        self.keep(.failed(report))
    }

    private func keep(_ input: CircuitInput) {
        guard self.mayUseFile else { return }
        let time = input.failure?.at ?? self.core.clock.now
        self.core.outbox.keep(
            KeptReport(
                circuit: self.circuit, input: input, uptime: self.core.clock.uptime(of: time)))
    }

    /// Applies one event to the circuit in memory.
    func inMemory<Value: Sendable>(
        at now: StoreTime, _ event: (inout Circuit, Moment, FailureList) -> Value
    ) -> Value {
        self.circuit.changeInMemory(at: now, offset: self.core.clock.offset, event)
    }

    /// Carries out in memory an operator's command that could not be committed.
    ///
    /// Nothing else would end a hold without an end for a closed store, or in a child of `fork`.
    func commandFailed(_ command: (inout Circuit, StoreTime) -> Void) {
        guard !self.mayUseFile || self.core.isDegraded else { return }
        let now = self.core.clock.now
        self.inMemory(at: now) { circuit, _, _ in command(&circuit, now) }
    }
}
