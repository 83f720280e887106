import BreakerStore
import BreakerTool

extension CallTotals {
    /// - Parameter isSlowTold: whether somebody counts slow calls.
    func readable(tellingSlow isSlowTold: Bool) -> String {
        let slow = isSlowTold || self.slow > 0 ? "\(self.slow) slow, " : ""
        return "\(self.succeeded) succeeded, \(self.failed) failed, \(slow)\(self.ignored) ignored, "
            + "\(self.refused) refused"
    }
}

extension CallTotals.Durations {
    /// How long half of the calls, nine of ten, and 99 of a hundred took at most, as far as the bounds tell.
    ///
    /// Nil without calls.
    var quantiles: String? {
        // The numbers come from a file and may be any: as floating point they can't overflow.
        let total = self.counts.reduce(0) { $0 + Double($1) }
        guard total > 0 else { return nil }
        return [50, 90, 99].map { "p\($0) \(self.bound(below: total * Double($0) / 100))" }.joined(separator: ", ")
    }

    /// The first bound that so many calls did not exceed.
    private func bound(below rank: Double) -> String {
        var sum = 0.0
        for (bound, count) in zip(self.bounds, self.counts) {
            sum += Double(count)
            if sum > 0, sum >= rank { return "≤ \(bound.readable)" }
        }
        return self.bounds.last.map { "> \($0.readable)" } ?? "unknown"
    }
}
