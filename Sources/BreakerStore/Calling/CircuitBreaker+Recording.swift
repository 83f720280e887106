/// Reports of code that guards itself with `isCallPermitted`.
extension CircuitBreaker {
    /// Reports a success without a permit, of a call that was made without asking, or after ``isCallPermitted``.
    ///
    /// Nothing limits how many such calls probe an open circuit whose time has come: a permit of ``admit()-9bf4f``
    /// does. If the circuit is half-open, or open and due, one step claims a probe's slot and reports.
    ///
    /// Suspends until the report is committed, if there is anything to commit.
    public func recordSuccess() async { await self.record(.success) }

    /// Reports a success without a permit; commits on the calling thread.
    @_disfavoredOverload
    public func recordSuccess() { self.record(.success) }

    /// Reports a failure without a permit, of a call that was made without asking, or after ``isCallPermitted``.
    ///
    /// Nothing limits how many such calls probe an open circuit whose time has come: a permit of ``admit()-9bf4f``
    /// does. If the circuit is half-open, or open and due, one step claims a probe's slot and reports.
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
        self.commit(self.input(ending))
        self.tell(CallOutcome.Result(ending.verdict), .zero)
    }

    private func record(_ ending: Ending) async {
        await self.commit(self.input(ending))
        self.tell(CallOutcome.Result(ending.verdict), .zero)
    }

    /// What is to be committed of a call that asked for no admission; nil if nothing is.
    private func input(_ ending: Ending) -> CircuitInput? {
        let isFailure: Bool
        switch ending.verdict {
        case .ignored: return nil
        case .failure, .outage:
            if self.isSurelyRefused { return nil }
            isFailure = true
        case .success:
            if !self.mayCountSuccess { return nil }
            isFailure = false
        }
        let input = CircuitInput.recorded(
            self.newReport(0, ending),
            failed: isFailure,
            token: self.core.newToken()
        )
        guard self.store.gate.isForked || self.store.isClosed else { return input }
        self.tellMemory(input)
        return nil
    }

    /// Whether the circuit is held, or open before its time, as far as the kept answer tells: a failure counts nowhere
    /// then.
    private var isSurelyRefused: Bool {
        let answer = self.circuit.slot.ask(self.store.gate)
        switch answer.verdict {
        case .open, .heldOpen, .heldClosed: return self.core.clock.uptime < answer.until
        case .none, .proceed, .proceedAndReportSuccess, .proceedAndForgetFailures: return false
        }
    }

    /// Whether a success may change anything, as far as a look tells.
    private var mayCountSuccess: Bool {
        switch self.circuit.slot.ask(self.store.gate).verdict {
        case .proceed: return false
        case .none, .proceedAndReportSuccess, .proceedAndForgetFailures, .open, .heldOpen, .heldClosed: break
        }
        guard !self.store.gate.isForked, !self.store.isClosed, !self.core.isDegraded,
            let look = try? self.core.look(self.asker)
        else { return true }
        switch look.answer {
        case .proceed: return look.reportsSuccess && look.hasFailures
        case .claim: return true
        case .uncounted, .refuse: return false
        }
    }
}
