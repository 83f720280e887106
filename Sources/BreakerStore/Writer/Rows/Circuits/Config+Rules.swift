/// Converts between configs and the rules of a row.
extension CircuitBreaker.Config {
    init(name: String, group: String?, rules: Rules) {
        self.init(
            name: name, group: group, trip: rules.trip, slow: rules.slow, recovery: rules.recovery,
            probes: rules.probes,
            minimumReporters: rules.minimumReporters, mode: rules.mode)
    }

    /// The differences from `old`, for the history.
    func changes(from old: CircuitBreaker.Config) -> String {
        var changes: [String] = []
        func compare<Value: Equatable>(_ name: String, _ old: Value, _ new: Value) {
            if old != new { changes.append("\(name) \(old) -> \(new)") }
        }
        compare("group", old.group ?? "none", self.group ?? "none")
        compare("trip", old.trip.description, self.trip.description)
        compare("slow", old.slow?.description ?? "none", self.slow?.description ?? "none")
        compare("recovery", old.recovery.timeout.readable, self.recovery.timeout.readable)
        compare("multiplier", old.recovery.multiplier, self.recovery.multiplier)
        compare("cap", old.recovery.cap.readable, self.recovery.cap.readable)
        compare("jitter", old.recovery.jitter, self.recovery.jitter)
        compare("outage cap", old.recovery.outageCap.readable, self.recovery.outageCap.readable)
        compare("probes", old.probes.limit, self.probes.limit)
        compare("successes to close", old.probes.successesToClose, self.probes.successesToClose)
        compare("lease", old.probes.lease.readable, self.probes.lease.readable)
        compare("growth", old.probes.growth, self.probes.growth)
        compare("tolerated share", old.probes.toleratedShare, self.probes.toleratedShare)
        compare("reporters", old.minimumReporters, self.minimumReporters)
        compare("mode", old.mode.rawValue, self.mode.rawValue)
        return changes.joined(separator: ", ")
    }
}

extension CircuitBreaker.Config {
    init(name: String, row: CircuitRow) {
        self.init(name: name, group: row.group, rules: row.circuit.rules)
    }
}
