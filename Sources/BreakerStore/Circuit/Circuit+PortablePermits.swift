/// Calls through a closed circuit that one process asked for, and another one reports.
extension Circuit {
    /// Applies a failed or slow call, unless a row shows that it counts already.
    ///
    /// Such a call has a row under each rule, also where the board counts the calls. Rows that are older than all
    /// windows are deleted.
    mutating func failedOrSlow(
        _ report: Report, isFailed: Bool, at moment: Moment, among kept: some KnownFailures, isAlive: (WorkerID) -> Bool
    ) -> ReportAction {
        if kept.contains(worker: report.worker, sequence: report.sequence) { return .stale }
        let isCounted = self.hold == nil && self.state == .closed && report.epoch == self.epoch
        guard isCounted || report.outage != nil else { return .stale }
        let hasRow = self.rules.keepsFailures
        let action = isFailed ? self.callFailed(report, at: moment, among: kept, isAlive: isAlive) : .unchanged
        if isCounted, action == .unchanged, !hasRow, let window = self.rules.longestRateWindow {
            self.change(.dropBefore(moment.now.subtracting(window)))
            self.change(.insert(Failure(at: moment.now, worker: report.worker, sequence: report.sequence)))
        }
        return action
    }

    /// Applies a success, or a call that says nothing.
    ///
    /// - Parameter forgets: whether there are failures for the success to forget.
    mutating func succeededOrIgnored(_ report: Report, forgets: Bool, at moment: Moment) -> ReportAction {
        guard report.epoch == self.epoch else { return .stale }
        return forgets ? self.callSucceeded(report, at: moment) : .unchanged
    }
}
