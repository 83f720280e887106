extension KillLoop {
    /// Holds what stands in a file against what the processes have done: none of them lives.
    struct Oracle {
        static let timeIsOver = "its time is over"

        let file: File
        /// By circuit, with times as the file counts them.
        let acts: [[Act]]
        private(set) var violations: [String] = []

        static func violations(of path: String, _ ledger: Ledger) -> [String] {
            var oracle = Oracle(File(path), ledger)
            oracle.check(ledger)
            if !ledger.wasGarbled {
                let known = ["", "-wal", "-shm", "-lock", "-board"].map { path + $0 }
                let strange = Files.names(besides: path).filter { !known.contains($0) }
                if !strange.isEmpty { oracle.violations.append("unexpected files: \(strange)") }
            }
            return oracle.violations
        }

        init(_ file: File, _ ledger: Ledger) {
            self.file = file
            var acts = [[Act]](repeating: [], count: Rule.all.count)
            for var act in ledger.acts {
                act.start += file.offset
                act.end = act.end == .max ? .max : act.end + file.offset
                acts[act.circuit].append(act)
            }
            self.acts = acts
        }

        mutating func violated(_ what: String) { self.violations.append(what) }

        private mutating func check(_ ledger: Ledger) {
            guard self.file.problems.isEmpty else {
                self.violations = self.file.problems.map { "SQLite says: \($0)" }
                return
            }
            for trace in self.file.traces { self.violated("nobody lives, but there is \(trace)") }
            self.checkOrder(ledger)
            for circuit in Rule.all.indices {
                let name = Rule.name(circuit)
                let acts = Dictionary(grouping: self.acts[circuit], by: \.worker)
                let story = Story(of: circuit, self.file.events.filter { $0.circuit == name }, acts)
                self.violations += story.violations.map { "\(name): \($0)" }
                self.checkEnd(story, name)
                self.checkCauses(story, name, acts)
                self.checkOperators(story, name)
                self.checkAnswers(story, name)
                self.checkCounts(story, name)
            }
            let keys = self.file.failures.map { "\($0.worker) \($0.sequence)" }
            if Set(keys).count < keys.count { self.violated("a report is counted twice") }
        }

        /// No event is lost, none is out of order.
        private mutating func checkOrder(_ ledger: Ledger) {
            var before: File.Event?
            for event in self.file.events {
                if event.id != (before?.id ?? 0) + 1 {
                    self.violated("no event between \(before?.id ?? 0) and \(event.id)")
                }
                if let before, event.at < before.at { self.violated("event \(event.id) is older than the one before") }
                if event.circuit == nil, event.kind != "quarantined" || !ledger.wasGarbled {
                    self.violated("an event that should not be: \(event)")
                }
                before = event
            }
        }

        /// The row is where the history ends.
        private mutating func checkEnd(_ story: Story, _ name: String) {
            guard let row = self.file.circuits.first(where: { $0.name == name }) else {
                return self.violated("there is no \(name)")
            }
            let last = story.last
            if row.state != last.base.rawValue || row.hold != last.hold
                || (last.base == .open && row.openUntil != last.openUntil)
            {
                self.violated("\(name): the history ends with \(last), the row is \(row)")
            }
            if let epoch = story.epoch, row.epoch != epoch {
                self.violated("\(name): the history leads to epoch \(epoch), the row has \(row.epoch)")
            }
        }

        /// Each event is the doing of one call, and no call does a thing twice.
        private mutating func checkCauses(_ story: Story, _ name: String, _ acts: [Int64: [Act]]) {
            var done: Set<String> = []
            for event in story.periods.compactMap(\.event) where event.by == nil {
                let causes = (acts[event.worker] ?? []).filter { act in
                    guard act.start <= event.at, event.at <= act.end else { return false }
                    switch event.kind {
                    case "tripped":
                        return act.verb.isFailure && event.reason?.hasSuffix("the last: \(act.text)") == true
                    case "reopened": return act.verb.isFailure && event.reason == act.text
                    case "closed": return act.verb.isSuccess
                    case "probing": return act.verb == .failure || act.verb == .success || act.verb == .admission
                    case "released": return event.reason == Self.timeIsOver
                    default: return false
                    }
                }
                if causes.isEmpty { self.violated("\(name): nobody did \(event)") }
                if causes.count == 1, !done.insert("\(causes[0].text) \(event.kind)").inserted {
                    self.violated("\(name): call \(causes[0].text) did it twice: \(event)")
                }
            }
        }

        /// Each acknowledged change by an operator stands in the history once.
        private mutating func checkOperators(_ story: Story, _ name: String) {
            let events = story.periods.compactMap(\.event).filter { $0.by != nil && $0.reason != Self.timeIsOver }
            let byOperator = Dictionary(grouping: events) { $0.by ?? "" }
            var known: Set<String> = []
            for act in self.acts[story.circuit] {
                let kind: String
                switch act.verb {
                case .reset: kind = "reset"
                case .holdOpen, .holdClosed: kind = "held"
                case .release: kind = "released"
                case .failure, .success, .admission, .permitFailure, .permitSuccess, .permitDiscard: continue
                }
                known.insert(act.text)
                let events = byOperator[act.text] ?? []
                if events.count > 1 { self.violated("\(name): \(act) stands in the history \(events.count) times") }
                for event in events where event.kind != kind || event.at < act.start || event.at > act.end {
                    self.violated("\(name): \(act) stands in the history as \(event)")
                }
                guard act.isAcknowledged, events.isEmpty else { continue }
                // Without a hold there is nothing to release.
                let touched = story.periods(from: act.start, to: act.end)
                if act.verb == .release, touched.contains(where: { story.periods[$0].hold == nil }) { continue }
                if act.verb == .release, story.mayHoldBeOver(in: touched, by: act.end, self.acts[story.circuit]) {
                    continue
                }
                self.violated("\(name): \(act) was acknowledged and is not in the history")
            }
            for by in byOperator.keys where !known.contains(by) { self.violated("\(name): nobody is operator \(by)") }
        }
    }
}
