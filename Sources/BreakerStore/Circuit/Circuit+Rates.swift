/// Failure-rate and slow-call rules: their calls have no rows, so the caller counts them.
extension Circuit {
    /// The calls within the windows of a circuit's rules since its last transition; nil for a rule without counts.
    struct WindowCounts: Hashable, Sendable {
        /// The failed calls among the calls in the trip rule's window.
        var failed: WindowCount?
        /// The slow calls among the calls in the slow rule's window.
        var slow: WindowCount?
    }

    /// A failure rate, or a rate of slow calls, that was reached.
    enum ReachedRate: Hashable, Sendable {
        case failed(WindowCount)
        case slow(WindowCount)

        var counted: WindowCount {
            switch self {
            case .failed(let counted), .slow(let counted): counted
            }
        }

        var subject: WindowSubject {
            switch self {
            case .failed: .failed
            case .slow: .slow
            }
        }
    }

    /// Trips the circuit if the calls, which the caller has just counted again, still reach a rate.
    ///
    /// - Parameters:
    ///   - epoch: the epoch of the counted calls.
    ///   - error: the text of the last failure.
    ///   - missing: how many workers have not answered that they have published their calls.
    ///   - kept: the newest failed, or slow, call of each worker.
    mutating func reachedRate(
        by counted: WindowCounts,
        epoch: Epoch,
        error: String?,
        missing: Int = 0,
        at moment: Moment,
        among kept: some KnownFailures,
        isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> ReportAction {
        self.endHoldIfOver(at: moment.now)
        guard epoch == self.epoch, self.hold == nil, case .closed = self.state else { return .stale }
        if let error { self.lastError = error }
        guard let reached = self.rules.rate(reachedBy: counted) else { return .counted }
        let minimum = self.rules.minimumReporters
        guard minimum <= 1 || Reporters(kept.newestOfEachWorker(), minimum: minimum, isAlive).count >= minimum
        else { return .counted }
        self.open(
            at: moment, as: .tripped, by: nil, failedAt: moment.now, reason: self.reason(of: reached, missing: missing),
            rate: reached)
        return .tripped
    }

    private func reason(of reached: ReachedRate, missing: Int) -> String {
        func text(_ counted: WindowCount, _ what: String, _ window: Duration) -> String {
            let percent = CallRate.percent(Double(counted.bad) / Double(max(1, counted.calls)))
            let calls = counted.calls == 1 ? "1 call" : "\(counted.calls) calls"
            let time = window.readable
            let silent =
                missing == 0 ? "" : ", without the newest calls of \(missing == 1 ? "1 worker" : "\(missing) workers")"
            return "\(counted.bad) of \(calls) (\(percent)) \(what) within \(time)\(silent)"
        }
        switch (reached, self.rules.trip.kind, self.rules.slow) {
        case (.failed(let counted), .failureRate(_, minimumCalls: _, let window), _):
            let failures = text(counted, "failed", window)
            return self.lastError.map { "\(failures), the last: \($0)" } ?? failures
        case (.slow(let counted), _, let slow?):
            return text(counted, "took longer than \(slow.threshold.readable)", slow.window)
        case (.failed, _, _), (.slow, _, _):
            // The rule that was reached is always there: `rate(reachedBy:)` has just read it.
            return "a rate of failed or slow calls was reached"
        }
    }
}

/// Which calls are bad under a failure-rate or slow-call rule.
enum WindowSubject: Sendable {
    /// Failed calls among all calls.
    case failed
    /// Slow calls among all calls.
    case slow
}

extension Circuit.WindowCounts {
    subscript(subject: WindowSubject) -> WindowCount? {
        get {
            switch subject {
            case .failed: self.failed
            case .slow: self.slow
            }
        }
        set {
            switch subject {
            case .failed: self.failed = newValue
            case .slow: self.slow = newValue
            }
        }
    }
}

extension Rules {
    /// The rate that the counted calls reach, if any.
    func rate(reachedBy counted: Circuit.WindowCounts) -> Circuit.ReachedRate? {
        if case .failureRate(let share, let minimum, within: _) = self.trip.kind, let failed = counted.failed,
            CallRate(share: share, minimumCalls: minimum).isReached(by: failed)
        {
            return .failed(failed)
        }
        if let slow = self.slow, let calls = counted.slow,
            CallRate(share: slow.share, minimumCalls: slow.minimumCalls).isReached(by: calls)
        {
            return .slow(calls)
        }
        return nil
    }
}
