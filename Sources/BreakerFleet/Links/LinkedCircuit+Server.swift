#if PostgreSQL
import BreakerStore

/// A circuit of the file in the form in which a link sends it to the server.
extension LinkedCircuit {
    /// The request to count the circuit over all hosts, by this host's own rules.
    var wanted: Registers.Wanted {
        Registers.Wanted(
            circuit: self.name, counting: self.counting, failureRate: self.failureRate, slowRate: self.slowRate)
    }

    /// Whether this host has failures or bad calls to count.
    var hasBadCalls: Bool {
        !self.failures.isEmpty || self.failed.map { $0.bad > 0 } ?? false || self.slow.map { $0.bad > 0 } ?? false
    }

    /// The longest window of the circuit's rules; a rule about failures in a row has none.
    var longestWindow: Int64 {
        max(self.counting?.window ?? 0, self.failureRate?.window ?? 0, self.slowRate?.window ?? 0)
    }

    /// The circuit as this host has opened it by its own rule; nil if it has not, or if it refuses nobody.
    var ownTrip: Registers.OwnTrip? {
        guard self.isOwnTrip, !self.isObserving else { return nil }
        let isHalfOpen: Bool
        switch self.state {
        case .open: isHalfOpen = false
        case .halfOpen: isHalfOpen = true
        case .closed, .unknown: return nil
        }
        return Registers.OwnTrip(
            circuit: self.name, age: self.trip?.age ?? 0, isHalfOpen: isHalfOpen, lastError: self.lastError)
    }

    /// A description of the rules, by which `status` compares the hosts.
    var ruleDescription: String {
        func rate(_ rule: Rate?, _ what: String) -> String? {
            rule.map {
                "\($0.share * 100) % of at least \($0.minimumCalls) calls \(what) within"
                    + " \(Duration.microseconds($0.window).readable)"
            }
        }
        let counting = self.counting.map { rule in
            "\(rule.failures) failures "
                + (rule.window.map { "within \(Duration.microseconds($0).readable)" } ?? "in a row")
        }
        let rules = [counting, rate(self.failureRate, "failed"), rate(self.slowRate, "slow")].compactMap { $0 }
        return rules.joined(separator: ", ") + (self.isObserving ? ", observing" : "")
    }
}
#endif
