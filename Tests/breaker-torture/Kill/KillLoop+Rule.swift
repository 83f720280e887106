extension KillLoop {
    /// All that the processes of one file have done so far.
    struct Ledger {
        var calls: [NotedCall] = []
        /// Whether a quarantine may stand in the history.
        var wasGarbled = false

        /// By circuit, with times as a file counts them.
        func calls(in file: StoreFile) -> [String: [NotedCall]] {
            var calls: [String: [NotedCall]] = [:]
            for circuit in Rule.all.indices { calls[Rule.name(circuit)] = [] }
            for var call in self.calls {
                call.start += file.offset
                call.end += file.offset
                calls[Rule.name(call.record.circuit)]?.append(call)
            }
            return calls
        }
    }

    /// The circuits of each file, all of them with rules that time does not touch.
    struct Rule {
        var failures: Int
        /// In microseconds.
        var recovery: Int64
        var probes: Int

        static let all = [
            // Never trips: all its failures can be counted.
            Rule(failures: 1_000_000, recovery: 1_000, probes: 1),
            Rule(failures: 3, recovery: 2_000, probes: 1),
            Rule(failures: 3, recovery: 2_000, probes: 1),
            Rule(failures: 2, recovery: 1_000, probes: 2),
            Rule(failures: 6, recovery: 20_000, probes: 1),
        ]
        /// So long that no probe's time is ever over.
        static let lease = Duration.seconds(3_600)

        static func name(_ circuit: Int) -> String { "circuit\(circuit)" }
    }

    /// What must not be in a file of which no process lives.
    static func violations(of path: String, _ ledger: Ledger) -> [String] {
        let file = StoreFile(path)
        let strays: Set<String> = ledger.wasGarbled ? ["quarantined", "created"] : []
        var violations = StoreJudge(file, eventsKept: 1_000_000, strays: strays, ledger.calls(in: file)).violations
        violations += file.traces.map { "nobody lives, but there is \($0)" }
        for (circuit, rule) in Rule.all.enumerated() where file.problems.isEmpty {
            let lease = Int64(Rule.lease / .microseconds(1))
            let rules = LegalWalk.Rules(failures: rule.failures, recovery: rule.recovery, lease: lease)
            guard let found = file.circuits[Rule.name(circuit)]?.rules, found != rules else { continue }
            violations.append("the rules of \(Rule.name(circuit)) are \(found)")
        }
        if !ledger.wasGarbled {
            let known = ["", "-wal", "-shm", "-lock", "-board"].map { path + $0 }
            let strange = Files.names(besides: path).filter { !known.contains($0) }
            if !strange.isEmpty { violations.append("unexpected files: \(strange)") }
        }
        return violations
    }
}
