#if PostgreSQL
import BreakerStore

/// What the server is asked and told of a circuit.
extension LinkedCircuit {
    /// What is to be counted of all hosts, by the rules of this host's own file.
    var wanted: Registers.Wanted {
        Registers.Wanted(
            circuit: self.name, counting: self.counting, failureShare: self.failureShare, slowShare: self.slowShare)
    }

    /// Whether this host has anything to count.
    var hasBadCalls: Bool {
        !self.failures.isEmpty || self.failed.map { $0.bad > 0 } ?? false || self.slow.map { $0.bad > 0 } ?? false
    }

    /// The longest window of its rules; failures in a row have none.
    var longestWindow: Int64 {
        max(self.counting?.window ?? 0, self.failureShare?.window ?? 0, self.slowShare?.window ?? 0)
    }

    /// By which the rules of several hosts are compared.
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
