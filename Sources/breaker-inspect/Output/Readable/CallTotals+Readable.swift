import BreakerStore
import BreakerTool

extension CallTotals {
    /// The totals in words.
    ///
    /// - Parameter includesSlow: whether to include slow calls, because the circuit has a slow-call rule.
    func readable(includingSlow includesSlow: Bool) -> String {
        let slow = includesSlow || self.slow > 0 ? "\(self.slow) slow, " : ""
        return "\(self.succeeded) succeeded, \(self.failed) failed, \(slow)\(self.ignored) ignored, "
            + "\(self.refused) refused"
    }
}

extension CallTotals.Durations {
    /// Upper bounds of the durations of 50, 90 and 99 % of the calls; nil without calls.
    var quantiles: String? {
        // The file may have any numbers; in floating point their sum can't overflow.
        let total = self.counts.reduce(0) { $0 + Double($1) }
        guard total > 0 else { return nil }
        return [50, 90, 99].map { "p\($0) \(self.bound(below: total * Double($0) / 100))" }.joined(separator: ", ")
    }

    /// The lowest bound that this many calls did not exceed.
    private func bound(below rank: Double) -> String {
        var sum = 0.0
        for (bound, count) in zip(self.bounds, self.counts) {
            sum += Double(count)
            if sum > 0, sum >= rank { return "≤ \(bound.readable)" }
        }
        return self.bounds.last.map { "> \($0.readable)" } ?? "unknown"
    }
}
