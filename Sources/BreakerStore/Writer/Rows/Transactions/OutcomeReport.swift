/// The outcome of a call, with the key that makes the circuit count the call only once.
enum OutcomeReport: Sendable {
    case failed(Report)
    /// A failed call without an epoch: the in-memory fallback admitted it before this process had read the circuit.
    case failedUnread(Report)
    case succeeded(Report)
    case probeEnded(Report, Verdict, token: Int64)
    /// A call that ran without an admission.
    ///
    /// Counts in the epoch that the circuit has at the commit. If a probe is due, this call claims its slot, and counts
    /// as that probe.
    case recorded(Report, failed: Bool, token: Int64)

    /// The same report for a retry, with the call's end in the file's current store time.
    func again(endedAt time: StoreTime) -> OutcomeReport {
        func retried(_ report: Report) -> Report {
            var report = report
            report.at = time
            report.isRetry = true
            return report
        }
        return switch self {
        case .failed(let report): .failed(retried(report))
        case .failedUnread(let report): .failedUnread(retried(report))
        case .succeeded(let report): .succeeded(retried(report))
        case .probeEnded(let report, let verdict, let token): .probeEnded(retried(report), verdict, token: token)
        case .recorded(let report, let failed, let token): .recorded(retried(report), failed: failed, token: token)
        }
    }

    /// Lets a failure count whatever the circuit's epoch is.
    mutating func forgetEpoch() {
        if case .failed(let report) = self { self = .failedUnread(report) }
    }

    /// The report of a failed call that was admitted; nil for all others.
    var failure: Report? {
        switch self {
        case .failed(let report), .failedUnread(let report): report
        case .succeeded, .probeEnded, .recorded: nil
        }
    }

    /// When the call ended.
    var endedAt: StoreTime {
        switch self {
        case .failed(let report), .failedUnread(let report), .succeeded(let report), .probeEnded(let report, _, _),
            .recorded(let report, _, _):
            report.at
        }
    }
}

extension Transaction {
    /// Applies a report to a circuit; registers a forgotten circuit again for a report without an epoch.
    func apply(
        _ report: OutcomeReport, to name: String, registering config: CircuitBreaker.Config
    ) throws(BreakerStoreError) {
        let isValidInAnyEpoch =
            switch report {
            case .failedUnread, .recorded: true
            case .failed, .succeeded, .probeEnded: false
            }
        _ = try self.change(name, own: config, registers: isValidInAnyEpoch) { circuit, moment, failures in
            circuit.apply(report, at: moment, among: failures, claiming: self.claim, isAlive: self.isAlive)
        }
    }
}

extension Circuit {
    /// Applies the outcome of a call to the state machine.
    ///
    /// - Parameter claim: makes a claim for a probe's slot with this token.
    mutating func apply(
        _ report: OutcomeReport, at moment: Moment, among kept: some KnownFailures, claiming claim: (Int64) -> Claim,
        isAlive: (WorkerID) -> Bool = { _ in true }
    ) -> ReportAction {
        switch report {
        case .failed(let failure): return self.callFailed(failure, at: moment, among: kept, isAlive: isAlive)
        case .failedUnread(var failure):
            // Before the report gets the circuit's epoch: a circuit believes every outage declared in its own epoch.
            guard self.believesOutage(of: failure) else { return .stale }
            failure.epoch = self.epoch
            return self.callFailed(failure, at: moment, among: kept, isAlive: isAlive)
        case .succeeded(let success): return self.callSucceeded(success, at: moment)
        case .probeEnded(let report, let verdict, let token):
            return self.probeEnded(token: token, verdict, report, at: moment)
        case .recorded(var recorded, let failed, let token):
            guard !failed || self.believesOutage(of: recorded) else { return .stale }
            recorded.epoch = self.epoch
            return self.recorded(
                recorded, failed: failed, claiming: claim(token), at: moment, among: kept, isAlive: isAlive)
        }
    }
}

extension Circuit {
    /// Applies the outcome of a probe.
    mutating func probeEnded(
        token: Int64, _ verdict: Verdict, _ report: Report, at moment: Moment
    ) -> ReportAction {
        switch verdict {
        case .success: self.probeSucceeded(token: token, epoch: report.epoch, at: moment)
        case .failure, .outage: self.probeFailed(token: token, report, at: moment)
        case .ignored: self.probeReleased(token: token, epoch: report.epoch, at: moment)
        }
    }
}

extension Verdict {
    /// The outage that the provider declares; nil if the verdict has none.
    var outage: Outage? {
        switch self {
        case .outage(let time): Outage(time: time?.saturatingMicroseconds)
        case .failure, .success, .ignored: nil
        }
    }
}
