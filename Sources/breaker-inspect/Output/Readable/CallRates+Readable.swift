import BreakerStore

extension CallRates {
    /// How many calls per second the window had, such as `2.4`.
    var callsPerSecond: String? {
        let seconds = self.window / .seconds(1)
        guard seconds > 0 else { return nil }
        let rate = Double(self.calls) / seconds
        let tenths = Int64(min(rate * 10, 1e15).rounded())
        return tenths >= 100 || tenths % 10 == 0 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension CircuitSnapshot {
    /// The failure rate within the trip rule's window; nil without a failure-rate rule, and without calls.
    var failedRate: String? {
        guard self.config.trip.share != nil, let recent = self.recent, recent.calls > 0 else { return nil }
        return CallRate.percent(Double(recent.failed) / Double(recent.calls))
    }
}
