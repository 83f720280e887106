/// Looks for an order of the calls of a history, and tells the whole of one that has none.
struct HistoryJudge {
    private let era: HistoryEra
    private let phase: Int64
    private var report: Report { self.era.report }

    init(_ era: HistoryEra, _ phase: Int64) {
        self.era = era
        self.phase = phase
    }

    func judge(_ chaos: HistoryChaos) {
        let records = Dictionary(
            uniqueKeysWithValues: self.era.logs.map { lane, log in
                let numbers = (chaos.counts[lane] ?? 0)..<log.count
                let records = numbers.compactMap { number in log.record(number).map { (number, $0) } }
                return (lane, records.filter { $0.1.phase == self.phase })
            })
        let rules = self.era.plan.rules
        var reading = HistoryReading(
            rules: rules, judgesTime: self.era.clock != nil, records: records, words: chaos.words,
            deaths: chaos.deaths, troubles: self.troubles(chaos), times: chaos.times)
        for circuit in 0..<self.era.plan.circuits {
            let calls = reading.calls(of: circuit)
            var search = Linearizability(calls, from: HistoryCircuit()) { rules.states(after: $1, from: $0) }
            let verdict = search.search()
            self.report.add(1, "histories")
            self.report.add(calls.count, "calls")
            self.report.raise(calls.count, "calls in the longest")
            switch verdict {
            case .explained: self.report.raise(search.points, "points in the largest search")
            case .undecided:
                self.report.add(1, "undecided")
                Report.say(
                    "histories: history \(self.phase), circuit \(circuit) is undecided: \(calls.count) calls, of them "
                        + "\(calls.count { !$0.isCertain }) uncertain, \(search.points) points")
            case .unexplained:
                self.report.violated("no order explains history \(self.phase), circuit \(circuit)")
                self.tell(calls, search.longest, rules)
            }
        }
        self.report.add(reading.unknown, "unknown")
    }

    private func troubles(_ chaos: HistoryChaos) -> [Int: HistoryReading.Trouble] {
        var troubles: [Int: HistoryReading.Trouble] = [:]
        for process in Set(self.era.lanes.map { $0 / 2 }) {
            let health = self.era.plan.health(of: process)
            guard health.degraded > chaos.begin else { continue }
            troubles[process] = .init(
                begin: chaos.lossBegin ?? chaos.begin,
                end: health.restored > health.degraded ? health.restored : .max)
        }
        return troubles
    }

    private func tell(
        _ calls: [HistoryReading.Call], _ longest: (path: [Int], state: HistoryCircuit), _ rules: HistoryRules
    ) {
        let first = calls.map(\.begin).min() ?? 0
        func micros(_ time: Int64) -> String { time == .max ? "never" : "\((time - first) / 1_000)" }
        var lines = ["\(rules)", "longest order: \(longest.path)", "state after it: \(longest.state)"]
        for index in calls.indices.sorted(by: { calls[$0].begin < calls[$1].begin }) {
            let call = calls[index]
            let mark = call.isCertain ? longest.path.contains(index) ? " " : "!" : "?"
            lines.append(
                "\(mark) \(index): \(micros(call.begin))...\(micros(call.end)) \(call.event.what) at \(call.event.times)"
            )
        }
        Report.say(lines.map { "histories:   \($0)" }.joined(separator: "\n"))
    }
}
