/// The state machine of one call, from the admission to its last report.
///
/// A value that decides what to do next, and does nothing itself. A driver carries out each step, and passes its result
/// to `next`. Each call that the cached decision alone can't settle is such a value, whatever its form: so each rule
/// about calls stands in one place. Two rules stand twice, because the inlined path of healthy calls has them, too:
/// what a cached refusal refuses, and when a success is only counted.
@usableFromInline
struct Call: Sendable {
    enum Form: Sendable {
        /// Runs an operation.
        case run(hasFallback: Bool)
        /// Asks for a permit, or reports the outcome of a permit.
        case permit
        /// Reports an outcome without a permit.
        case record(Outcome)
        /// Reports an outcome; no caller waits for the report.
        case unattended
    }

    private var form: Form
    private let retry: RetryRule?
    /// What the driver is to do now.
    private(set) var step: Step
    private var attempts = 0
    /// The outcome of the last attempt that ran, or the refusal if none ran.
    private var outcome: Outcome?
    private var isSlow = false
    private var pending: PendingOutcome?
    /// How long the operation took.
    private var elapsed = Duration.zero
    /// Whether the operation may still be running, although its time-out was reported.
    private var awaitsOperation = false
    /// Whether the caller's task is cancelled: then there is no retry and no fallback.
    private var isCancelled = false

    /// A call that asks whether it may run.
    init(_ form: Form, retry: RetryRule? = nil) {
        self.form = form
        self.retry = retry
        self.step =
            switch form {
            case .record: .immediate(.refresh(Admission(.uncounted)))
            case .run, .permit, .unattended: .immediate(.readCache)
            }
    }

    /// A call that was let through, and whose operation runs.
    init(_ form: Form, admittedBy admission: Admission) {
        self.form = form
        self.retry = nil
        self.step = .user(.run(admission, timeout: nil))
    }

    /// The same call, for a thread that continues its report after the caller has stopped waiting.
    var unattended: Call {
        var call = self
        call.form = .unattended
        return call
    }

    /// The next step, now that the driver has carried out the last one.
    mutating func next(_ input: Input) -> Step {
        let isAnswer = self.apply(input)
        assert(isAnswer, "\(input) is no answer to \(self.step)")
        return self.step
    }

    /// Applies the answer to the last step; returns false, and changes nothing, if the input is no answer to it.
    mutating func apply(_ input: Input) -> Bool {
        let next =
            switch self.step {
            case .immediate(let step): self.after(step, input)
            case .change(let change): self.after(change, input)
            case .count(let pending): self.afterCounting(pending, input)
            case .user(let step): self.after(step, input)
            }
        if let next { self.step = next }
        return next != nil
    }

    private mutating func after(_ immediate: Immediate, _ input: Input) -> Step? {
        switch immediate {
        case .readCache:
            guard case .decision(let decision, let uptime, let isStoreUsable) = input else { return nil }
            return self.step(for: decision, at: uptime) ?? .immediate(isStoreUsable ? .read : .readFallback)
        case .read: return self.afterRead(input)
        case .readFallback: return self.afterAdmission(input, byCommit: false)
        case .refuse:
            guard case .refusal(let error) = input else { return nil }
            // If a retry is refused, the caller gets the outcome of the attempt before.
            if self.outcome == nil { self.outcome = Outcome(verdict: .ignored, error: error, isThrown: true) }
            return .immediate(.publish(.refused, .zero))
        case .begin:
            guard case .begun(let admission, let timeout) = input else { return nil }
            if case .permit = self.form { return .user(.done(.admitted(admission))) }
            return .user(.run(admission, timeout: timeout))
        case .refresh(let admission):
            guard case .refreshed(let refreshed) = input else { return nil }
            if case .record(let outcome) = self.form { return self.record(outcome, by: refreshed) }
            guard let outcome = self.outcome else { return nil }
            var facts = refreshed.facts
            facts.isSlow = self.isSlow
            return .immediate(.settle(PendingOutcome(outcome, admission, facts, refreshed)))
        case .settle(let pending):
            guard case .settled(let report, let error) = input else { return nil }
            self.pending = pending
            self.pending?.error = error
            return report.map { .change(.report($0)) } ?? self.count()
        case .applyReport:
            guard case .carriedOut = input else { return nil }
            return self.count()
        case .tripFallback:
            guard case .carriedOut = input else { return nil }
            return self.afterReport()
        case .publish(let result, _):
            guard case .published(let isCancelled) = input else { return nil }
            self.isCancelled = isCancelled
            guard result != .refused, let retry = self.retry, self.attempts <= retry.maxRetries, !isCancelled,
                let outcome = self.outcome
            else { return self.conclude() }
            return .immediate(.askToRetry(outcome))
        case .askToRetry:
            guard case .mayRetry(let mayRetry, let draw) = input else { return nil }
            guard mayRetry, let retry = self.retry else { return self.conclude() }
            return .user(.sleep(retry.delay(beforeRetry: self.attempts, draw: draw)))
        }
    }

    private mutating func after(_ change: Change, _ input: Input) -> Step? {
        switch change {
        case .claim: return self.afterAdmission(input, byCommit: true)
        case .report(let report):
            if case .committed = input {
                self.pending?.isCommitted = true
                let isAttended = if case .unattended = self.form { false } else { true }
                return .immediate(.applyReport(report, isAttended ? .committed : .committedForOthers))
            }
            guard case .notCommitted = input else { return nil }
            return .immediate(.applyReport(report, .notCommitted))
        case .trip(let reached, _, let pending):
            if case .committed = input { return self.afterReport() }
            guard case .notCommitted = input else { return nil }
            return .immediate(.tripFallback(reached, pending))
        }
    }

    private func afterCounting(_ pending: PendingOutcome, _ input: Input) -> Step? {
        guard case .counted(let reached) = input else { return nil }
        guard let reached else { return self.afterReport() }
        guard case .decisive(let epoch) = pending.failure?.counting else {
            return .immediate(.tripFallback(reached, pending))
        }
        return .change(.trip(reached, epoch: epoch, pending))
    }

    private mutating func after(_ step: UserStep, _ input: Input) -> Step? {
        switch step {
        case .run(let admission, _):
            if case .timedOut(let outcome, let facts) = input {
                self.awaitsOperation = true
                return self.end(outcome, admission, facts)
            }
            guard case .ended(let outcome, let facts, let elapsed) = input else { return nil }
            self.elapsed = elapsed
            return self.end(outcome, admission, facts)
        case .awaitOperation:
            guard case .operationEnded(let elapsed) = input else { return nil }
            self.awaitsOperation = false
            self.elapsed = elapsed
            return self.afterReport()
        case .sleep:
            guard case .slept(let wasCancelled) = input else { return nil }
            self.isCancelled = wasCancelled
            return wasCancelled ? self.conclude() : .immediate(.readCache)
        case .replace, .done: return nil
        }
    }

    // MARK: - Admission

    private func afterRead(_ input: Input) -> Step? {
        if case .decision(let decision, let uptime, let isStoreUsable) = input {
            // While the file can be read but not written, the in-memory fallback must let the call through, too.
            if decision.isClosed, !isStoreUsable { return .immediate(.readFallback) }
            return self.step(for: decision, at: uptime) ?? .change(.claim)
        }
        if case .unknown = input { return .change(.claim) }
        if case .unusable = input { return .immediate(.readFallback) }
        return nil
    }

    /// After a commit, or the in-memory fallback, was asked to let the call through.
    ///
    /// - Parameter byCommit: whether a commit answered, which may have registered the circuit again: a read must set
    ///   up its counts before this call ends.
    private func afterAdmission(_ input: Input, byCommit: Bool) -> Step? {
        if case .admitted(let admission) = input {
            return .immediate(.begin(admission, readsFirst: byCommit && admission.isClosedInFile))
        }
        if case .refused(let cause, let until, let lastError) = input {
            return .immediate(.refuse(cause, until: until, lastError: lastError))
        }
        if case .notCommitted = input, byCommit { return .immediate(.readFallback) }
        return nil
    }

    /// The step that a decision demands; nil if it is unknown or has expired.
    private func step(for decision: CallDecision, at uptime: Uptime) -> Step? {
        func begin(_ source: Admission.Source, epoch: Epoch = 0) -> Step {
            .immediate(.begin(Admission(source, epoch: epoch), readsFirst: false))
        }
        func refuse(_ cause: RefusalCause) -> Step {
            .immediate(.refuse(cause, until: decision.until == .max ? nil : decision.until, lastError: nil))
        }
        switch decision.kind {
        case .proceed, .proceedMeasured: return begin(.closed, epoch: decision.epoch)
        case .proceedWithoutFailures, .proceedWithFailures: return begin(.closedConsecutive, epoch: decision.epoch)
        case .heldClosed: return decision.isOver(at: uptime) ? nil : begin(.uncounted)
        case .observe: return decision.isOver(at: uptime) ? nil : begin(.observed)
        case .open: return decision.isOver(at: uptime) ? nil : refuse(.open)
        case .heldOpen: return decision.isOver(at: uptime) ? nil : refuse(.held)
        case .probing: return .immediate(.refuse(.probing, until: nil, lastError: nil))
        case .unknown, .claim: return nil
        }
    }

    // MARK: - Outcome

    private mutating func end(_ outcome: Outcome, _ admission: Admission, _ facts: Facts) -> Step {
        self.attempts += 1
        self.outcome = outcome
        self.isSlow = facts.isSlow
        let pending = PendingOutcome(outcome, admission, facts)
        return pending.needsRefresh ? .immediate(.refresh(admission)) : .immediate(.settle(pending))
    }

    /// Decides how an outcome of a call without an admission is counted and reported.
    private mutating func record(_ outcome: Outcome, by refreshed: Refreshed) -> Step {
        let (decision, facts, isFailure) = (refreshed.decision, refreshed.facts, outcome.verdict.isFailure)
        self.outcome = outcome
        var admission = Admission(.uncounted)
        var isReported = outcome.verdict != .ignored
        switch decision?.kind {
        case .proceed, .proceedMeasured, .proceedWithoutFailures, .proceedWithFailures:
            let closed = Admission(.closed, epoch: decision?.epoch ?? 0)
            // Under a failure-rate rule the failure is counted like that of an admitted call.
            if isFailure, facts.hasRateRule {
                return .immediate(.settle(PendingOutcome(outcome, closed, facts, refreshed)))
            }
            if outcome.verdict == .success {
                admission = closed
                isReported = decision?.kind == .proceedWithFailures
            }
        case .open, .observe: isReported = outcome.verdict.outage.map { !refreshed.isOpen(untilEndOf: $0) } ?? false
        case .heldOpen, .heldClosed: isReported = false
        // All slots are taken. If one is free by the commit, a failure reopens the circuit, which is worth a commit.
        case .probing: isReported = isFailure
        // Nothing shows that the circuit is not closed, as most are: a success counts in the windows.
        case nil, .unknown:
            if outcome.verdict == .success { admission = Admission(.closed) }
        // The outcome counts as a probe, so a success stays out of the windows.
        case .claim: break
        }
        var pending = PendingOutcome(outcome, admission, facts)
        pending.report = isReported ? .recorded : .none
        return .immediate(.settle(pending))
    }

    private func count() -> Step {
        guard let pending = self.pending, pending.failure != nil else { return self.afterReport() }
        return .count(pending)
    }

    private func afterReport() -> Step {
        if case .unattended = self.form { return .user(.done(.value)) }
        if self.awaitsOperation { return .user(.awaitOperation) }
        guard let outcome = self.outcome else { return self.done() }
        return .immediate(.publish(CallOutcome.Result(outcome.verdict), self.elapsed))
    }

    // MARK: - End

    private func conclude() -> Step {
        if case .run(hasFallback: true) = self.form, !self.isCancelled, let error = self.outcome?.replaceableError {
            return .user(.replace(error))
        }
        return self.done()
    }

    private func done() -> Step {
        guard let outcome = self.outcome, outcome.isThrown, let error = outcome.error else {
            return .user(.done(.value))
        }
        return .user(.done(.error(error)))
    }
}
