extension CircuitCounter {
    /// The calls in the windows that end now.
    func counted(at uptime: Int64, epoch: Int64) -> Circuit.CountedCalls {
        func calls(_ subject: LookRing.Subject) -> CallCounts? {
            self.sums(subject, at: uptime, epoch: epoch).map { CallCounts(calls: $0.calls, bad: $0.bad) }
        }
        return Circuit.CountedCalls(failed: calls(.failed), slow: calls(.slow))
    }

    /// The newest failing, or slow, call of each worker within the window.
    func reporters(
        of share: Circuit.ReachedShare, at uptime: Int64, epoch: Int64, _ time: (Int64) -> StoreTime
    ) -> FailureList {
        let subject: LookRing.Subject =
            switch share {
            case .failed: .failed
            case .slow: .slow
            }
        guard let start = self.sums(subject, at: uptime, epoch: epoch)?.since else { return FailureList() }
        return FailureList(
            self.reporters(subject, since: start).map {
                Circuit.Failure(at: time($0.uptime), worker: $0.worker, sequence: 0)
            })
    }
}
