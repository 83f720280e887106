import BreakerStore

/// Why the fleet trips: this host's own rule, applied to the counts of all hosts.
struct TripReason: Sendable, Hashable, CustomStringConvertible {
    let description: String

    /// Applies the rule; nil if it is not reached, or if fewer than `minimumHosts` hosts have failed or slow calls.
    init?(_ file: LinkedCircuit, _ count: Count, minimumHosts: Int) {
        let last = file.lastError.map { ", the last: \($0)" } ?? ""
        if let rule = file.counting, count.failures >= rule.failures, count.hosts >= minimumHosts {
            let within = rule.window.map { " within \(Duration.microseconds($0).readable)" } ?? " in a row"
            self.description = "\(count.failures) failures of \(count.hosts) hosts\(within)\(last)"
        } else if let rule = file.failureRate, count.failedHosts >= minimumHosts, rule.isReached(by: count.failed) {
            self.description =
                "\(count.failed.bad) of \(count.failed.calls) calls of \(count.failedHosts) hosts failed within"
                + " \(Duration.microseconds(rule.window).readable)\(last)"
        } else if let rule = file.slowRate, count.slowHosts >= minimumHosts, rule.isReached(by: count.slow) {
            self.description =
                "\(count.slow.bad) of \(count.slow.calls) calls of \(count.slowHosts) hosts were slow within"
                + " \(Duration.microseconds(rule.window).readable)"
        } else {
            return nil
        }
    }
}

extension LinkedCircuit.Rate {
    func isReached(by sum: LinkedCircuit.Sum) -> Bool {
        sum.calls > 0 && sum.calls >= self.minimumCalls && Double(sum.bad) / Double(sum.calls) >= self.share
    }
}
