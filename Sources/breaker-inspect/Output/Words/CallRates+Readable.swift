import BreakerStore

extension CallRates {
    /// How many calls a second of the window had, such as `2.4`.
    var callsPerSecond: String? {
        let seconds = self.window / .seconds(1)
        guard seconds > 0 else { return nil }
        let rate = Double(self.calls) / seconds
        let tenths = Int64(min(rate * 10, 1e15).rounded())
        return tenths >= 100 || tenths % 10 == 0 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension CircuitSnapshot {
    /// The share of failed calls within the trip rule's window; nil without a rule about a share, and without calls.
    var failedShare: String? {
        guard self.config.trip.share != nil, let recent = self.recent, recent.calls > 0 else { return nil }
        return CallShare.percent(Double(recent.failed) / Double(recent.calls))
    }
}
