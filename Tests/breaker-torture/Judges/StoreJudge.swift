/// Holds what stands in a file against itself, and against what the callers have noted.
///
/// Every part that leaves a history has it judged so: each circuit's history is a legal walk that ends where the row
/// is. Where callers have noted all calls, each acknowledged change stands in the history once, each event has a cause,
/// each answer fits its time, and each failure counts once. A part adds only the rules that are its own.
struct StoreJudge {
    let file: StoreFile
    /// By circuit; nil if the callers' notes don't tell of all calls.
    let calls: [String: [NotedCall]]?
    let walks: [String: LegalWalk]
    private(set) var violations: [String] = []

    /// - Parameters:
    ///   - eventsKept: how many events of a circuit the stores keep; zero where the file may lack some anyway. If no
    ///     circuit has so many, the file has all from its first on.
    ///   - isLinked: whether links order the circuits about.
    ///   - strays: the kinds of events that may stand in the history without a circuit.
    init(
        _ file: StoreFile, eventsKept: Int = 1_000, isLinked: Bool = false,
        strays: Set<String> = ["degraded", "restored", "quarantined", "created"], _ calls: [String: [NotedCall]]? = nil
    ) {
        self.file = file
        self.calls = calls
        let events = Dictionary(grouping: file.events) { $0.circuit ?? "" }
        let isWhole = events.values.allSatisfy { $0.count < eventsKept }
        var walks: [String: LegalWalk] = [:]
        for name in Set(events.keys).union(file.circuits.keys) where !name.isEmpty {
            let causes = calls.map { Dictionary(grouping: $0[name] ?? [], by: \.worker) }
            walks[name] = LegalWalk(
                events[name] ?? [], file.circuits[name]?.rules, isWhole: isWhole, isLinked: isLinked,
                epochFloor: file.epochFloor
            ) { event in
                guard let causes else { return event.at }
                let ends = (causes[event.worker] ?? []).filter { $0.start <= event.at && event.at <= $0.end }.map(\.end)
                return ends.max() ?? .max
            }
        }
        self.walks = walks
        self.violations = file.problems.map { "SQLite says: \($0)" }
        guard file.problems.isEmpty else { return }
        self.checkOrder(isWhole, strays)
        for (name, walk) in walks.sorted(by: { $0.key < $1.key }) {
            let faults = walk.violations + walk.faults(of: file.circuits[name])
            self.violations += faults.map { "\(name): \($0)" }
        }
        for name in (calls ?? [:]).keys.sorted() { self.checkCalls(of: name) }
    }

    mutating func violated(_ what: String) { self.violations.append(what) }

    /// No event is lost, none is out of order.
    private mutating func checkOrder(_ isWhole: Bool, _ strays: Set<String>) {
        var before: StoreFile.Event?
        for event in self.file.events {
            if isWhole, event.id != (before?.id ?? 0) + 1 {
                self.violated("no event between \(before?.id ?? 0) and \(event.id)")
            }
            if let before, event.at < before.at { self.violated("event \(event.id) is older than the one before") }
            if event.circuit == nil, !strays.contains(event.kind) {
                self.violated("an event that should not be: \(event)")
            }
            before = event
        }
        let keys = self.file.failures.map { "\($0.worker) \($0.sequence)" }
        if Set(keys).count < keys.count { self.violated("a report is counted twice") }
    }

    private mutating func checkCalls(of name: String) {
        guard let walk = self.walks[name] else { return self.violated("there is no \(name)") }
        let calls = self.calls?[name] ?? []
        self.checkCauses(walk, name, calls)
        self.checkOperators(walk, name, calls)
        self.checkAnswers(walk, name, calls)
        self.checkCounts(walk, name, calls)
    }

    /// Each event is the doing of one call, and no call does a thing twice.
    private mutating func checkCauses(_ walk: LegalWalk, _ name: String, _ calls: [NotedCall]) {
        let byWorker = Dictionary(grouping: calls, by: \.worker)
        var done: Set<String> = []
        for event in walk.periods.compactMap(\.event) where event.by == nil {
            let causes = (byWorker[event.worker] ?? []).filter { call in
                guard call.start <= event.at, event.at <= call.end else { return false }
                switch event.kind {
                case "tripped": return call.isFailure && event.reason?.hasSuffix("the last: \(call.text)") == true
                case "reopened": return call.isFailure && event.reason == call.text
                case "closed": return call.isSuccess
                case "probing", "proberDied": return call.what == .record || call.what == .admit
                case "released": return event.isEndOfHoldByTime
                default: return false
                }
            }
            if causes.isEmpty { self.violated("\(name): nobody did \(event)") }
            // One call may find several slots of the dead.
            if causes.count == 1, event.kind != "proberDied", !done.insert("\(causes[0].text) \(event.kind)").inserted {
                self.violated("\(name): call \(causes[0].text) did it twice: \(event)")
            }
        }
    }

    /// Each acknowledged change by an operator stands in the history once.
    private mutating func checkOperators(_ walk: LegalWalk, _ name: String, _ calls: [NotedCall]) {
        let events = walk.periods.compactMap(\.event).filter { $0.by != nil && !$0.isEndOfHoldByTime }
        let byOperator = Dictionary(grouping: events) { $0.by ?? "" }
        var known: Set<String> = []
        for call in calls {
            guard let kind = call.operation else { continue }
            known.insert(call.text)
            let events = byOperator[call.text] ?? []
            if events.count > 1 { self.violated("\(name): \(call) stands in the history \(events.count) times") }
            for event in events where event.kind != kind || event.at < call.start || event.at > call.end {
                self.violated("\(name): \(call) stands in the history as \(event)")
            }
            guard call.isAcknowledged, events.isEmpty else { continue }
            // Without a hold there is nothing to release.
            let touched = walk.periods(from: call.start, to: call.end)
            if call.what == .release, touched.contains(where: { walk.periods[$0].hold == nil }) { continue }
            if call.what == .release, walk.mayHoldBeOver(in: touched, by: call.end, calls) { continue }
            self.violated("\(name): \(call) was acknowledged and is not in the history")
        }
        for by in byOperator.keys where !known.contains(by) { self.violated("\(name): nobody is operator \(by)") }
    }
}
