#if PostgreSQL
import BreakerStore

/// What a link asks the server about a circuit, and sends to it.
extension LinkedCircuit {
    /// What the server counts of all hosts, by this host's own rules.
    var wanted: Registers.Wanted {
        Registers.Wanted(
            circuit: self.name, counting: self.counting, failureShare: self.failureShare, slowShare: self.slowShare)
    }

    /// Whether this host has failures or bad calls to count.
    var hasBadCalls: Bool {
        !self.failures.isEmpty || self.failed.map { $0.bad > 0 } ?? false || self.slow.map { $0.bad > 0 } ?? false
    }

    /// The longest window of its rules; failures in a row have none.
    var longestWindow: Int64 {
        max(self.counting?.window ?? 0, self.failureShare?.window ?? 0, self.slowShare?.window ?? 0)
    }

    /// The rules as a text, by which `status` compares the hosts.
    var ruleInWords: String {
        func share(_ rule: Share?, _ what: String) -> String? {
            rule.map {
                "\($0.share * 100) % of at least \($0.minimumCalls) calls \(what) within"
                    + " \(Duration.microseconds($0.window).readable)"
            }
        }
        let counting = self.counting.map { rule in
            "\(rule.failures) failures "
                + (rule.window.map { "within \(Duration.microseconds($0).readable)" } ?? "in a row")
        }
        let rules = [counting, share(self.failureShare, "failed"), share(self.slowShare, "slow")].compactMap { $0 }
        return rules.joined(separator: ", ") + (self.isObserving ? ", observing" : "")
    }
}
#endif
