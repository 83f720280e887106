/// Reports without a permit, for code that guards itself with `isCallPermitted`.
extension CircuitBreaker {
    /// Reports a success without a permit: the call was made without asking, or after ``isCallPermitted``.
    ///
    /// Any number of such calls may probe an open circuit that is due for a probe; to limit them, ask for a permit with
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
    /// Any number of such calls may probe an open circuit that is due for a probe; to limit them, ask for a permit with
    /// ``admit()-9bf4f``. If the circuit is half-open, or open and due, one transaction claims a probe's slot and
    /// reports.
    ///
    /// Suspends until the report is committed. The policy's `classify` judges the error; the failure counts even if the
    /// calling task is cancelled.
    /// - Parameter error: what went wrong, if known.
    public func recordFailure(_ error: (any Error)? = nil) async { await self.record(self.reportedOutcome(error)) }

    /// Reports a failure without a permit; commits on the calling thread.
    /// - Parameter error: what went wrong, if known.
    @_disfavoredOverload
    public func recordFailure(_ error: (any Error)? = nil) { self.record(self.reportedOutcome(error)) }

    private func record(_ outcome: Outcome) {
        var call = Call(.record(outcome))
        _ = self.advance(&call, nil)
    }

    private func record(_ outcome: Outcome) async {
        var call = Call(.record(outcome))
        _ = await self.advance(&call, nil)
    }
}
