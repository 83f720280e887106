/// Converts a config, which has durations, to the machine's rules, which have microseconds, and back.
extension Rules {
    /// The rules of a config in which the user has set nothing but the name.
    static let defaults = Rules(CircuitBreaker.Config(name: ""))

    /// The rules for memory: one reporter is enough, because memory does not know the failures of other processes.
    static func inMemory(_ rules: Rules) -> Rules {
        var rules = rules
        rules.minimumReporters = 1
        return rules
    }

    /// The config must have been validated.
    init(_ config: CircuitBreaker.Config) {
        let trip: Trip =
            switch config.trip.kind {
            case .failures(let count, within: let window): .failures(count, window: window.saturatingMicroseconds)
            case .consecutiveFailures(let count): .consecutiveFailures(count)
            case .failureRate(let share, let calls, let window):
                .failureRate(
                    CallShare(share: share, minimumCalls: calls), window: window.saturatingMicroseconds)
            case .unknown(let word): .unknown(word, count: 1, window: 0)
            }
        self.init(
            trip: trip,
            slow: config.slow.map { Slow($0) },
            recovery: config.recovery.timeout.saturatingMicroseconds,
            multiplier: config.recovery.multiplier,
            cap: config.recovery.cap.saturatingMicroseconds,
            jitter: config.recovery.jitter,
            probeLimit: config.probes.limit,
            successesToClose: config.probes.successesToClose,
            lease: config.probes.lease.saturatingMicroseconds,
            minimumReporters: config.minimumReporters,
            isObserving: config.mode == .observing
        )
    }
}

extension Rules.Slow {
    fileprivate init(_ rule: SlowCallRule) {
        self.init(
            threshold: rule.threshold.saturatingMicroseconds,
            share: CallShare(share: rule.share, minimumCalls: rule.minimumCalls),
            window: rule.window.saturatingMicroseconds
        )
    }
}

extension SlowCallRule {
    fileprivate init(_ rule: Rules.Slow) {
        self.init(
            longerThan: Duration(wholeMicroseconds: rule.threshold),
            share: rule.share.share,
            minimumCalls: rule.share.minimumCalls,
            within: Duration(wholeMicroseconds: rule.window)
        )
    }
}

extension CircuitBreaker.Config {
    init(name: String, group: String?, rules: Rules) {
        let trip: TripRule =
            switch rules.trip {
            case .failures(let count, let window): .failures(count, within: Duration(wholeMicroseconds: window))
            case .consecutiveFailures(let count): .consecutiveFailures(count)
            case .failureRate(let share, let window):
                .failureRate(
                    share.share, minimumCalls: share.minimumCalls, within: Duration(wholeMicroseconds: window))
            case .unknown(let word, count: _, window: _): TripRule(kind: .unknown(word))
            }
        self.init(
            name: name,
            group: group,
            trip: trip,
            slow: rules.slow.map { SlowCallRule($0) },
            recovery: RecoveryRule(
                timeout: Duration(wholeMicroseconds: rules.recovery),
                multiplier: rules.multiplier,
                cap: Duration(wholeMicroseconds: rules.cap),
                jitter: rules.jitter
            ),
            probes: ProbeRule(
                limit: rules.probeLimit,
                successesToClose: rules.successesToClose,
                lease: Duration(wholeMicroseconds: rules.lease)
            ),
            minimumReporters: rules.minimumReporters,
            mode: rules.isObserving ? .observing : .enforcing
        )
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
        compare("probes", old.probes.limit, self.probes.limit)
        compare("successes to close", old.probes.successesToClose, self.probes.successesToClose)
        compare("lease", old.probes.lease.readable, self.probes.lease.readable)
        compare("reporters", old.minimumReporters, self.minimumReporters)
        compare("mode", old.mode.rawValue, self.mode.rawValue)
        return changes.joined(separator: ", ")
    }
}

extension CircuitBreaker.Config {
    init(name: String, row: CircuitRow) {
        self.init(name: name, group: row.label, rules: row.circuit.rules)
    }
}
