/// Carries out the immediate steps of a call, which block for no longer than a read of microseconds.
extension CircuitBreaker {
    func carryOut(_ immediate: Call.Immediate) -> Call.Input {
        switch immediate {
        case .readCache: return self.input(self.circuit.cache.read(self.store.gate), isStoreUsable: self.mayUseFile)
        case .read: return self.read()
        case .readFallback: return self.admitByFallback()
        case .refuse(let cause, let until, let lastError):
            let remaining = until?.microseconds(since: self.core.clock.uptime)
            return .refusal(self.makeRefusal(cause, remaining, lastError: lastError))
        case .begin(let admission, let readsFirst): return self.begin(admission, readsFirst: readsFirst)
        case .refresh(let admission): return self.refresh(admission)
        case .settle(let pending):
            if let duration = pending.duration { self.circuit.counts.durations.add(duration) }
            if let lane = pending.lane { self.circuit.counts.lanes.add(lane) }
            return .settled(self.makeReport(pending), self.errorText(of: pending))
        case .applyReport(let report, .committed): self.applyCommitted(report, readsFirst: true)
        case .applyReport(let report, .committedForOthers): self.applyCommitted(report, readsFirst: false)
        case .applyReport(let report, .notCommitted): self.countInMemory(report)
        case .tripFallback(let reached, let pending): self.tripFallback(reached, pending)
        case .publish(let result, let duration):
            self.publish(result, duration)
            return .published(isCancelled: Task.isCancelled)
        case .askToRetry(let outcome): return .mayRetry(self.mayRetry(outcome), draw: .random(in: 0..<1))
        }
        return .carriedOut
    }

    // MARK: - Reading

    /// The cached decision, if it is valid and has not expired.
    var validDecision: CallDecision? {
        let decision = self.circuit.cache.read(self.store.gate)
        return decision.kind == .unknown || decision.isOver(at: self.core.clock.uptime) ? nil : decision
    }

    /// Reads the circuit in the file, and caches the decision; nil if the file has no such circuit, or can't be read.
    @discardableResult
    func readDecision() -> CallDecision? {
        guard self.mayUseFile else { return nil }
        return (try? self.core.readDecision(self.readContext)) ?? nil
    }

    /// Whether this handle may use the file: a child of `fork` and a closed store may not.
    var mayUseFile: Bool { !self.store.gate.isForked && !self.store.isClosed }

    private func input(_ decision: CallDecision, isStoreUsable: Bool) -> Call.Input {
        .decision(decision, at: decision.until == .max ? 0 : self.core.clock.uptime, isStoreUsable: isStoreUsable)
    }

    private func read() -> Call.Input {
        do throws(BreakerStoreError) {
            guard let decision = try self.core.readDecision(self.readContext) else { return .unknown }
            return self.input(decision, isStoreUsable: !self.core.isDegraded)
        } catch {
            // The commit repairs a row that can't be read.
            if error.isRowDamage { return .unknown }
            self.core.readFailed(error)
            return .unusable
        }
    }

    private func refresh(_ admission: Admission) -> Call.Input {
        // The decision is read before the outcome is committed: without an admission, the commit may take a success for
        // a probe's and close the circuit, and such a success must not count in the new window.
        // In a degraded store the in-memory fallback decides about an outcome without an admission, so nothing is read.
        // A call that the file let through must know there, too, whether the circuit is still in its epoch.
        let decision =
            self.validDecision ?? (admission.isClosedInFile || !self.core.isDegraded ? self.readDecision() : nil)
        // Facts about the circuit alone: the call itself knows whether it was slow.
        var refreshed = Call.Refreshed(decision: decision, mayUseFile: self.mayUseFile, facts: self.facts(.success))
        if let decision, decision.kind == .open || decision.kind == .observe {
            refreshed.openTime = decision.until.microseconds(since: self.core.clock.uptime)
            refreshed.outageCap = self.circuit.rulesInMemory.recovery.outageCap.saturatingMicroseconds
        }
        return .refreshed(refreshed)
    }

    /// Whether the circuit is still in the epoch in which a call was let through, as far as a read shows.
    func refreshAndCheckEpoch(_ epoch: Epoch) -> Bool {
        guard let decision = self.validDecision ?? self.readDecision() else { return self.mayUseFile }
        return decision.epoch == epoch
    }

    func facts(_ outcome: Outcome) -> Call.Facts {
        let counts = self.circuit.counts
        let hasRateRule = counts.shortestWindow != nil
        return Call.Facts(
            isSlow: outcome.duration.map { counts.isSlow($0) } ?? false, hasRateRule: hasRateRule,
            hasFailureRateRule: hasRateRule && counts.hasFailureRateRule)
    }

    // MARK: - Beginning

    private func begin(_ admission: Admission, readsFirst: Bool) -> Call.Input {
        if readsFirst { self.readDecision() }
        if admission.source == .observed { self.circuit.counts.lanes.add(.refused) }
        return .begun(self.measured(admission), timeout: self.policy.timeout.map { self.timeout($0, of: admission) })
    }

    /// A probe may take no longer than its slot's lease: another process may have stored a shorter lease than this
    /// policy's timeout.
    private func timeout(_ timeout: Duration, of admission: Admission) -> Duration {
        guard admission.isProbe else { return timeout }
        let lease = self.circuit.rulesInMemory.probes.lease
        // Leaves time for the report, which is stale once the lease is over.
        return timeout < lease ? timeout : lease * 9 / 10
    }

    /// Makes and counts a refusal; its last error is that of the last read, unless another one is given.
    ///
    /// A refusal by a hold has the hold instead of an error from before the hold.
    ///
    /// - Parameter microseconds: the time until calls may be let through again; nil if it is not known.
    func makeRefusal(_ cause: RefusalCause, _ microseconds: Int64?, lastError: String? = nil) -> CircuitOpenError {
        self.circuit.counts.lanes.add(.refused)
        let lastRead = cause == .held ? self.lastReadWithHold : self.circuit.lastRead
        var refusal = CircuitOpenError(
            name: self.name,
            group: lastRead == nil ? self.circuit.registeredConfig.group : lastRead?.group,
            cause: cause,
            retryAfter: microseconds.map { Duration.microseconds(max(0, $0)) }
        )
        if cause == .held {
            refusal.boxedHold = lastRead?.refusingHold
        } else {
            refusal.lastError = lastError ?? lastRead?.lastError
        }
        return refusal
    }

    /// The last reading, for a refusal by a hold.
    ///
    /// Reads again if that reading has no hold. Then the refusal comes from a commit, which leaves no reading, or from
    /// a reading that was not stored because another process had committed.
    private var lastReadWithHold: SharedCircuit.LastRead? {
        if let lastRead = self.circuit.lastRead, lastRead.refusingHold != nil { return lastRead }
        self.readDecision()
        return self.circuit.lastRead
    }

    // MARK: - Retries and metrics

    /// Whether another attempt may be made.
    ///
    /// There is no retry while the circuit refuses calls: the caller gets the operation's error at once.
    private func mayRetry(_ outcome: Outcome) -> Bool {
        let isWorthwhile =
            if let retryIf = self.policy.ownRetryIf, let error = outcome.error { retryIf(error) } else {
                outcome.verdict.isFailure
            }
        return isWorthwhile && self.isCallPermitted
    }

    /// The instant at which an operation begins; nil if the policy has no `onOutcome`.
    func newStopwatch() -> ContinuousClock.Instant? { self.policy.onOutcome == nil ? nil : .now }

    func elapsed(since watch: ContinuousClock.Instant?) -> Duration { watch.map { .now - $0 } ?? .zero }

    func publish(_ result: CallOutcome.Result, _ duration: Duration) {
        guard let onOutcome = self.policy.onOutcome else { return }
        onOutcome(CallOutcome(circuit: self.name, result: result, duration: duration))
    }
}

extension CallOutcome.Result {
    init(_ verdict: Verdict) {
        switch verdict {
        case .success: self = .succeeded
        case .failure, .outage: self = .failed
        case .ignored: self = .ignored
        }
    }
}
