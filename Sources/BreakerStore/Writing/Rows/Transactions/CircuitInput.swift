/// The end of a call, with the key that makes the circuit count the call only once.
enum CircuitInput: Sendable {
    case failed(Report)
    /// A failed call that memory let through before this process had read the circuit: the call has no epoch yet.
    case failedUnread(Report)
    case succeeded(Report)
    case probeEnded(token: Int64, epoch: Int64, Verdict, error: String?)
    /// A call that ran without a leave.
    ///
    /// Counts in the epoch that the circuit has at the commit. If a probe is due, this call claims its slot, and counts
    /// as that probe.
    case recorded(Report, failed: Bool, token: Int64)

    /// The same end for another try, with another time at which the call ended.
    func again(endedAt time: StoreTime) -> CircuitInput {
        func moved(_ report: Report) -> Report {
            var report = report
            report.at = time
            report.mayBeKnown = true
            return report
        }
        return switch self {
        case .failed(let report): .failed(moved(report))
        case .failedUnread(let report): .failedUnread(moved(report))
        case .succeeded(let report): .succeeded(moved(report))
        case .recorded(let report, let failed, let token): .recorded(moved(report), failed: failed, token: token)
        case .probeEnded: self
        }
    }

    /// Lets a failure count whatever the circuit's epoch is.
    mutating func forgetEpoch() {
        if case .failed(let report) = self { self = .failedUnread(report) }
    }

    /// The report of a failed call that had a leave; nil for all other ends.
    var failure: Report? {
        switch self {
        case .failed(let report), .failedUnread(let report): report
        case .succeeded, .probeEnded, .recorded: nil
        }
    }
}

extension Transaction {
    /// Applies the end of a call to a circuit; for an end without an epoch, registers a forgotten circuit again.
    func apply(
        _ input: CircuitInput, to name: String, registering config: CircuitBreaker.Config
    ) throws(BreakerStoreError) {
        switch input {
        case .failed(let report):
            _ = try self.change(name) { circuit, moment, failures in
                circuit.callFailed(report, at: moment, among: failures, isAlive: self.isAlive)
            }
        case .failedUnread(let report):
            _ = try self.change(name, orRegister: config) { circuit, moment, failures in
                var report = report
                report.epoch = circuit.epoch
                return circuit.callFailed(report, at: moment, among: failures, isAlive: self.isAlive)
            }
        case .succeeded(let report):
            _ = try self.change(name) { circuit, moment, _ in circuit.callSucceeded(report, at: moment) }
        case .probeEnded(let token, let epoch, let verdict, let error):
            _ = try self.change(name) { circuit, moment, _ in
                circuit.probeEnded(token: token, epoch: epoch, verdict, error: error, at: moment)
            }
        case .recorded(let report, let failed, let token):
            let claim = self.claim(token)
            _ = try self.change(name, orRegister: config) { circuit, moment, failures in
                var report = report
                report.epoch = circuit.epoch
                return circuit.recorded(
                    report, failed: failed, claiming: claim, at: moment, among: failures, isAlive: self.isAlive)
            }
        }
    }
}

extension Circuit {
    mutating func probeEnded(
        token: Int64,
        epoch: Int64,
        _ verdict: Verdict,
        error: String?,
        at moment: Moment
    ) -> ReportAction {
        switch verdict {
        case .success: self.probeSucceeded(token: token, epoch: epoch, at: moment)
        case .failure, .outage:
            self.probeFailed(token: token, epoch: epoch, error: error, outage: verdict.outage, at: moment)
        case .ignored: self.probeReleased(token: token, epoch: epoch, at: moment)
        }
    }
}

extension Verdict {
    /// The service's own announcement of an outage; nil if the verdict has none.
    var outage: Outage? {
        switch self {
        case .outage(let time): Outage(time: time?.saturatingMicroseconds)
        case .failure, .success, .ignored: nil
        }
    }
}
