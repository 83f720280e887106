/// Reports without a permit, for code that guards itself with `isCallPermitted`.
extension CircuitBreaker {
    /// Reports a success without a permit: the call was made without asking, or after ``isCallPermitted``.
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

    /// Reports a failure without a permit: the call was made without asking, or after ``isCallPermitted``.
    ///
    /// Any number of such calls may probe an open circuit whose time has come; to limit them, ask for a permit with
    /// ``admit()-9bf4f``. If the circuit is half-open, or open and due, one transaction claims a probe's slot and
    /// reports.
    ///
    /// Suspends until the report is committed. The policy's `classify` judges the error; the failure counts even if the
    /// calling task is cancelled.
    /// - Parameter error: what went wrong, if known.
    public func recordFailure(_ error: (any Error)? = nil) async { await self.record(self.reportedEnding(error)) }

    /// Reports a failure without a permit; commits on the calling thread.
    /// - Parameter error: what went wrong, if known.
    @_disfavoredOverload
    public func recordFailure(_ error: (any Error)? = nil) { self.record(self.reportedEnding(error)) }

    private func record(_ ending: Ending) {
        self.carryOut(self.endWithoutLeave(ending))
        self.reportOutcome(CallOutcome.Result(ending.verdict), .zero)
    }

    private func record(_ ending: Ending) async {
        await self.carryOut(self.endWithoutLeave(ending))
        self.reportOutcome(CallOutcome.Result(ending.verdict), .zero)
    }

    /// Decides the work at the end of a call whose caller asked for no leave.
    ///
    /// Looks at the circuit before a success is committed, because the commit may close the circuit, and a probe's
    /// success is in no window. Reports to memory if this handle may not use the file.
    private func endWithoutLeave(_ ending: Ending) -> CallEnd {
        var leave = Leave.uncounted
        guard ending.verdict != .ignored else {
            return CallEnd(ending: ending, input: nil, count: self.countInLanes(ending, of: leave))
        }
        var mayChange = true
        let isFailure = ending.verdict.isFailure
        let answer = self.validAnswer ?? (self.core.isDegraded ? nil : self.look())
        switch answer?.kind {
        case .proceed, .proceedMeasured, .proceedWithoutFailures, .proceedWithFailures:
            let closed = Leave(.closed, epoch: answer?.epoch ?? 0)
            if isFailure {
                // If a rule counts shares of the calls, the failure counts as one of its calls.
                if self.circuit.counts.shortestWindow != nil { return self.end(ending, of: closed) }
            } else {
                leave = closed
                mayChange = answer?.kind == .proceedWithFailures
            }
        case .open, .heldOpen, .heldClosed, .observe: mayChange = false
        case .probing: mayChange = isFailure
        case nil, .unknown: if !isFailure { leave = Leave(.closed, epoch: self.circuit.counts.epoch) }
        case .claim: break
        }
        let count = self.countInLanes(ending, of: leave)
        return CallEnd(ending: ending, input: mayChange ? self.makeInput(ending) : nil, count: count)
    }

    /// Makes the input to commit for a call whose caller asked for no leave; gives it to memory if the file may not be
    /// used.
    private func makeInput(_ ending: Ending) -> CircuitInput? {
        let input = CircuitInput.recorded(
            self.newReport(0, ending), failed: ending.verdict.isFailure, token: self.core.newToken())
        if self.mayUseFile { return input }
        self.countInMemory(input)
        return nil
    }
}
