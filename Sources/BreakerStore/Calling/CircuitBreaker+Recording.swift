/// Reports of code that guards itself with `isCallPermitted`.
extension CircuitBreaker {
    /// Reports a success without a permit, of a call that was made without asking, or after ``isCallPermitted``.
    ///
    /// Any number of such calls may probe an open circuit whose time has come; to limit them, ask for a permit with
    /// ``admit()-9bf4f``. If the circuit is half-open, or open and due, one transaction claims a probe's slot and
    /// reports.
    ///
    /// Suspends until the report is committed, if there is anything to commit.
    public func recordSuccess() async { await self.record(.success) }

    /// Reports a success without a permit; commits on the calling thread.
    @_disfavoredOverload
    public func recordSuccess() { self.record(.success) }

    /// Reports a failure without a permit, of a call that was made without asking, or after ``isCallPermitted``.
    ///
    /// Any number of such calls may probe an open circuit whose time has come; to limit them, ask for a permit with
    /// ``admit()-9bf4f``. If the circuit is half-open, or open and due, one transaction claims a probe's slot and
    /// reports.
    ///
    /// Suspends until the report is committed. The policy's `classify` judges the error; the failure counts even if
    /// the calling task is cancelled.
    /// - Parameter error: what went wrong, if that is known.
    public func recordFailure(_ error: (any Error)? = nil) async { await self.record(self.reportedEnding(error)) }

    /// Reports a failure without a permit; commits on the calling thread.
    /// - Parameter error: what went wrong, if that is known.
    @_disfavoredOverload
    public func recordFailure(_ error: (any Error)? = nil) { self.record(self.reportedEnding(error)) }

    private func record(_ ending: Ending) {
        if let admitted = self.admittedByShare(ending) {
            self.report(ending, of: admitted)
        } else {
            let (input, admitted) = self.makeInput(ending)
            self.commit(input)
            _ = self.count(self.countIfGood(ending, of: admitted))
        }
        self.tell(CallOutcome.Result(ending.verdict), .zero)
    }

    private func record(_ ending: Ending) async {
        if let admitted = self.admittedByShare(ending) {
            await self.report(ending, of: admitted)
        } else {
            let (input, admitted) = self.makeInput(ending)
            await self.commit(input)
            _ = await self.count(self.countIfGood(ending, of: admitted), ending, afterCommit: input != nil)
        }
        self.tell(CallOutcome.Result(ending.verdict), .zero)
    }

    /// The leave by which a failure counts whose caller asked for none.
    ///
    /// If a rule counts shares of the calls and the circuit is closed, the failure counts as one of its calls. Nil
    /// otherwise.
    private func admittedByShare(_ ending: Ending) -> Admitted? {
        guard ending.verdict.isFailure, self.circuit.counts.shortestWindow != nil, self.asksFile else { return nil }
        let answer = self.circuit.slot.ask(self.store.gate)
        if answer.isClosed { return .counted(epoch: answer.epoch, reportsSuccess: false) }
        guard answer.verdict == .none, let look = try? self.core.look(self.asker), case .proceed = look.answer else {
            return nil
        }
        return .counted(epoch: look.epoch, reportsSuccess: false)
    }

    /// Whether the file alone decides; else memory guards.
    private var asksFile: Bool { !self.store.gate.isForked && !self.store.isClosed && !self.core.isDegraded }

    /// Makes what is to be committed of a call that asked for no admission, nil if nothing is, and the leave by which
    /// that call is counted.
    ///
    /// Memory is told where there is no file.
    private func makeInput(_ ending: Ending) -> (CircuitInput?, Admitted) {
        var admitted = Admitted.uncounted
        let isFailure: Bool
        switch ending.verdict {
        case .ignored: return (nil, admitted)
        case .failure, .outage:
            if self.countsNowhere { return (nil, admitted) }
            isFailure = true
        case .success:
            let mayChange: Bool
            (mayChange, admitted) = self.leaveForSuccess
            if !mayChange { return (nil, admitted) }
            isFailure = false
        }
        let input = CircuitInput.recorded(
            self.newReport(0, ending),
            failed: isFailure,
            token: self.core.newToken()
        )
        guard self.store.gate.isForked || self.store.isClosed else { return (input, admitted) }
        self.tellMemory(input)
        return (nil, admitted)
    }

    /// Whether a failure would count nowhere, as far as a look tells: the circuit is held, observes, or is open before
    /// its time.
    private var countsNowhere: Bool {
        let answer = self.circuit.slot.ask(self.store.gate)
        switch answer.verdict {
        case .open, .heldOpen, .heldClosed, .observe: return self.core.clock.uptime < answer.until
        case .proceed, .proceedMeasured, .proceedAndReportSuccess, .proceedAndForgetFailures: return false
        case .none: break
        }
        guard self.asksFile, let look = try? self.core.look(self.asker) else { return false }
        switch look.answer {
        case .refuse(.open, _), .refuse(.held, _), .uncounted, .observe: return true
        case .refuse(.probing, _), .proceed, .claim: return false
        }
    }

    /// Whether a success may change anything, as far as a look tells, and the leave that its call would have got.
    ///
    /// Asked before the success is committed, which may close the circuit: a probe's success is in no window.
    private var leaveForSuccess: (mayChange: Bool, Admitted) {
        let answer = self.circuit.slot.ask(self.store.gate)
        switch answer.verdict {
        case .proceed, .proceedMeasured: return (false, .counted(epoch: answer.epoch, reportsSuccess: false))
        case .none, .proceedAndReportSuccess, .proceedAndForgetFailures, .open, .heldOpen, .heldClosed,
            .observe:
            break
        }
        guard self.asksFile, let look = try? self.core.look(self.asker) else {
            return (true, .counted(epoch: self.circuit.counts.epoch, reportsSuccess: false))
        }
        switch look.answer {
        case .proceed:
            return (look.reportsSuccess && look.hasFailures, .counted(epoch: look.epoch, reportsSuccess: false))
        case .claim: return (true, .uncounted)
        case .uncounted, .observe, .refuse: return (false, .uncounted)
        }
    }
}
