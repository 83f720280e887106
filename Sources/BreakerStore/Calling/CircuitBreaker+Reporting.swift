/// Telling the circuit how calls ended.
extension CircuitBreaker {
    /// What a call's end comes to.
    struct Ending: Sendable {
        var verdict: Verdict
        var error: String?
    }

    func ending(_ error: any Error) -> Ending {
        let verdict = self.policy.classify(error)
        switch verdict {
        case .failure: return Ending(verdict: .failure, error: self.text(of: error))
        case .success, .ignored: return Ending(verdict: verdict)
        }
    }

    /// What is stored of an error, cut to what the file takes.
    func text(of error: any Error) -> String { String(self.policy.describe(error).prefix(500)) }

    /// Commits on the calling thread; what can't be committed counts in memory.
    func report(_ ending: Ending, of admitted: Admitted) {
        guard let work = self.work(ending, of: admitted) else { return }
        do throws(BreakerStoreError) {
            try self.core.commit(until: self.store.deadline, for: self.asker, work)
        } catch {
            self.reportToMemory(ending)
        }
    }

    /// Suspends until the report is committed; cancelling the task withdraws nothing.
    func report(_ ending: Ending, of admitted: Admitted) async {
        guard let work = self.work(ending, of: admitted) else { return }
        do throws(BreakerStoreError) {
            try await self.core.commit(until: self.store.deadline, for: self.asker, work)
        } catch {
            self.reportToMemory(ending)
        }
    }

    /// Leaves a probe's slot without waiting.
    func discard(_ admitted: Admitted) {
        guard let work = self.work(Ending(verdict: .ignored), of: admitted) else { return }
        self.core.post(until: self.store.deadline, work)
    }

    /// The change that reports an ending; nil if there is nothing to commit.
    private func work(_ ending: Ending, of admitted: Admitted) -> StoreCore.Work<Void>? {
        switch admitted {
        case .uncounted:
            return nil
        case .inMemory(let admission):
            self.report(ending, toMemoryAfter: admission)
            return nil
        case .counted(let epoch, let reportsSuccess):
            switch ending.verdict {
            case .ignored: return nil
            case .success: return reportsSuccess && self.hasFailuresToForget ? self.success(epoch) : nil
            case .failure: return self.failure(epoch, ending.error)
            }
        case .probe(let token, let epoch):
            return self.probeEnd(ending, token: token, epoch: epoch)
        }
    }

    private func failure(_ epoch: Int64, _ error: String?) -> StoreCore.Work<Void> {
        let name = self.name
        let report = self.newReport(epoch, error)
        return { (transaction) throws(BreakerStoreError) in
            _ = try transaction.change(name) { circuit, moment in
                circuit.callFailed(report, at: moment, isAlive: transaction.isAlive)
            }
        }
    }

    private func success(_ epoch: Int64) -> StoreCore.Work<Void> {
        let name = self.name
        let report = self.newReport(epoch, nil)
        return { (transaction) throws(BreakerStoreError) in
            _ = try transaction.change(name) { circuit, moment in circuit.callSucceeded(report, at: moment) }
        }
    }

    private func probeEnd(_ ending: Ending, token: Int64, epoch: Int64) -> StoreCore.Work<Void> {
        let name = self.name
        return { (transaction) throws(BreakerStoreError) in
            _ = try transaction.change(name) { circuit, moment in
                switch ending.verdict {
                case .success: circuit.probeSucceeded(token: token, epoch: epoch, at: moment)
                case .failure: circuit.probeFailed(token: token, epoch: epoch, error: ending.error, at: moment)
                case .ignored: circuit.probeReleased(token: token, epoch: epoch, at: moment)
                }
            }
        }
    }

    // MARK: - Reports of calls that asked nobody

    /// The change that records an ending without a permit; nil if there is nothing to commit.
    func recordWork(_ ending: Ending) -> StoreCore.Work<Void>? {
        guard !self.store.gate.isForked, !self.store.isClosed, !self.core.isDegraded else {
            self.reportToMemory(ending)
            return nil
        }
        switch ending.verdict {
        case .ignored: return nil
        case .failure: if self.isSurelyRefused { return nil }
        case .success: if !self.mayCountSuccess { return nil }
        }
        let name = self.name
        let config = self.circuit.registeredConfig
        let report = self.newReport(0, ending.error)
        let token = self.core.newToken()
        return { (transaction) throws(BreakerStoreError) in
            _ = try transaction.change(name, orRegister: config) { circuit, moment in
                // Nobody admitted the call: it belongs to the circuit as it is.
                var report = report
                report.epoch = circuit.epoch
                return circuit.recorded(
                    report,
                    failed: ending.verdict == .failure,
                    claiming: Circuit.Claim(token: token, worker: transaction.worker.id),
                    at: moment,
                    isAlive: transaction.isAlive
                )
            }
        }
    }

    /// Whether the circuit is open and its time has not come, as far as the cached answer knows.
    private var isSurelyRefused: Bool {
        let answer = self.circuit.slot.ask(self.store.gate)
        switch answer.verdict {
        case .open, .heldOpen, .heldClosed: return self.core.clock.uptime < answer.until
        case .none, .proceed, .proceedAndReportSuccess: return false
        }
    }

    /// Whether a success would change anything, as far as looking can tell.
    private var mayCountSuccess: Bool {
        switch self.circuit.slot.ask(self.store.gate).verdict {
        case .proceed: return false
        case .none, .proceedAndReportSuccess, .open, .heldOpen, .heldClosed: break
        }
        guard let look = try? self.core.look(self.asker) else {
            return true
        }
        switch look.answer {
        case .proceed: return look.reportsSuccess && look.hasFailures
        case .claim: return true
        case .uncounted, .refuse: return false
        }
    }

    // MARK: - Memory

    func reportToMemory(_ ending: Ending) {
        let token = self.core.newToken()
        let report = self.newReport(0, ending.error)
        self.memory.change(self.name, rules: self.circuit.firstRules, at: report.at) { circuit, moment in
            var report = report
            report.epoch = circuit.epoch
            switch ending.verdict {
            case .ignored: break
            case .success, .failure:
                _ = circuit.recorded(
                    report,
                    failed: ending.verdict == .failure,
                    claiming: Circuit.Claim(token: token, worker: 0),
                    at: moment
                )
            }
        }
    }

    private func report(_ ending: Ending, toMemoryAfter admission: Circuit.Admission) {
        let report = self.newReport(0, ending.error)
        self.memory.change(self.name, rules: self.circuit.firstRules, at: report.at) { circuit, moment in
            switch (admission, ending.verdict) {
            case (.proceed(let epoch), .failure):
                var report = report
                report.epoch = epoch
                _ = circuit.callFailed(report, at: moment)
            case (.proceed(let epoch), .success):
                var report = report
                report.epoch = epoch
                _ = circuit.callSucceeded(report, at: moment)
            case (.probe(let token, let epoch), .success):
                _ = circuit.probeSucceeded(token: token, epoch: epoch, at: moment)
            case (.probe(let token, let epoch), .failure):
                _ = circuit.probeFailed(token: token, epoch: epoch, error: ending.error, at: moment)
            case (.probe(let token, let epoch), .ignored):
                _ = circuit.probeReleased(token: token, epoch: epoch, at: moment)
            case (.proceed, .ignored), (.uncounted, _), (.refuse, _):
                break
            }
        }
    }

    private func newReport(_ epoch: Int64, _ error: String?) -> Report {
        let key = self.core.nextKey()
        return Report(
            worker: key.worker,
            sequence: key.sequence,
            epoch: epoch,
            at: self.core.clock.now,
            error: error
        )
    }

    /// The consecutive rule: a success is written only if there is a failure to forget.
    private var hasFailuresToForget: Bool {
        let answer = self.circuit.slot.ask(self.store.gate)
        switch answer.verdict {
        case .proceed: return false
        case .proceedAndReportSuccess: return answer.until > 0
        case .none, .open, .heldOpen, .heldClosed: break
        }
        let look = try? self.core.look(self.asker)
        return look?.hasFailures ?? true
    }
}
