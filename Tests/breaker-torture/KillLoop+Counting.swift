extension KillLoop.Oracle {
    /// What a call is told fits the state of that time.
    mutating func checkAnswers(_ story: KillLoop.Story, _ name: String) {
        let acts = self.acts[story.circuit]
        var admissions: [String: KillLoop.Act] = [:]
        for act in acts {
            switch act.verb {
            case .admission:
                admissions[act.text] = act
                guard act.isAcknowledged, let period = story.period(around: act.start, act.end) else { continue }
                let isOpen = period.base == .open && period.hold == nil && act.end < period.openUntil
                let isHeldOpen = period.hold == "open" && !story.mayHoldBeOver(period, by: act.end, acts)
                if isOpen || isHeldOpen, act.outcome == .done {
                    self.violated("\(name): \(act) was let through in \(period)")
                }
                if period.counts || period.hold == "closed", act.outcome != .done, period.base == .closed {
                    self.violated("\(name): \(act) was refused in \(period)")
                }
            case .permitSuccess, .permitFailure:
                guard act.isAcknowledged, let admission = admissions["\(act.process).\(act.detail)"],
                    let period = story.probing(of: admission), period.start <= admission.end, act.end < period.end
                else { continue }
                self.violated("\(name): \(act) ended a probe, but nothing followed in \(period)")
            case .failure, .success, .permitDiscard, .reset, .holdOpen, .holdClosed, .release:
                continue
            }
        }
    }

    /// All acknowledged failures count, none counts twice: the threshold is met when it must be and no sooner, and
    /// those that are not forgotten are there.
    mutating func checkCounts(_ story: KillLoop.Story, _ name: String) {
        let threshold = KillLoop.Rule.all[story.circuit].failures
        var certain: [Int: [KillLoop.Act]] = [:]
        var possible: [Int: [KillLoop.Act]] = [:]
        var admissions: [String: KillLoop.Act] = [:]
        for act in self.acts[story.circuit] {
            if act.verb == .admission { admissions[act.text] = act }
            guard act.verb.isFailure else { continue }
            var isIn: Set<Int> = []
            for index in story.periods(from: act.start, to: act.end) where story.periods[index].counts {
                if isIn.insert(story.periods[index].counting).inserted {
                    possible[story.periods[index].counting, default: []].append(act)
                }
            }
            guard act.isAcknowledged else { continue }
            var start = act.start
            if act.verb == .permitFailure {
                // It counts only in the epoch of its admission.
                guard let admission = admissions["\(act.process).\(act.detail)"] else { continue }
                start = admission.start
            }
            if let period = story.period(around: start, act.end), period.counts {
                certain[period.counting, default: []].append(act)
            }
        }
        for counting in 0...story.last.counting {
            let least = certain[counting] ?? []
            let most = possible[counting] ?? []
            if let trip = story.trips[counting] {
                // The one that met the threshold is in no period, for it ended one.
                if least.count >= threshold || most.count < threshold {
                    self.violated("\(name): tripped by \(least.count) to \(most.count) failures: \(trip)")
                }
            } else if least.count >= threshold {
                self.violated("\(name): not tripped by \(least.count) failures in counting \(counting)")
            }
        }
        self.checkRows(story, name, certain[story.last.counting] ?? [], possible[story.last.counting] ?? [])
    }

    /// The failures that count now.
    private mutating func checkRows(
        _ story: KillLoop.Story,
        _ name: String,
        _ certain: [KillLoop.Act],
        _ possible: [KillLoop.Act]
    ) {
        let rows = self.file.failures.filter { $0.circuit == name }
        let threshold = KillLoop.Rule.all[story.circuit].failures
        let isTripped = story.trips[story.last.counting] != nil
        if isTripped ? rows.count != threshold : rows.count >= threshold {
            self.violated("\(name): \(rows.count) failures count in \(story.last)")
        }
        // Where all rows have a call, and all calls a row, both can be had at once (Mendelsohn and Dulmage).
        for row in Self.match(rows, possible).rows { self.violated("\(name): nobody reported \(row)") }
        for act in Self.match(rows, certain).acts {
            self.violated("\(name): \(act) was acknowledged and does not count")
        }
    }

    /// What is left when each row has had the call that ended first of those that it may tell of.
    private static func match(
        _ rows: [KillLoop.File.Failure],
        _ acts: [KillLoop.Act]
    ) -> (rows: [KillLoop.File.Failure], acts: [KillLoop.Act]) {
        var left = Dictionary(grouping: acts, by: \.worker).mapValues { $0.sorted { $0.end < $1.end } }
        var leftRows: [KillLoop.File.Failure] = []
        for row in rows.sorted(by: { $0.at < $1.at }) {
            if let index = left[row.worker]?.firstIndex(where: { $0.start <= row.at && row.at <= $0.end }) {
                left[row.worker]?.remove(at: index)
            } else {
                leftRows.append(row)
            }
        }
        return (leftRows, left.values.flatMap(\.self))
    }
}

extension KillLoop.Story {
    /// The half-open period in which an admission surely took a slot.
    func probing(of admission: KillLoop.Act) -> Period? {
        guard admission.outcome == .done else { return nil }
        if let period = self.period(around: admission.start, admission.end), period.base == .halfOpen { return period }
        let touched = self.periods(from: admission.start, to: admission.end).map { self.periods[$0] }
        // A call that was slow to return may have been let through before the circuit tripped, while another thread of
        // its worker took the slot.
        guard !touched.contains(where: { $0.counts || $0.hold == "closed" }) else { return nil }
        return touched.first {
            $0.event?.kind == "probing" && $0.event?.worker == admission.worker && $0.start >= admission.start
        }
    }

    /// Whether a hold had a time that may be over by then.
    func mayHoldBeOver(_ period: Period, by time: Int64, _ acts: [KillLoop.Act]) -> Bool {
        guard let event = self.holdEvent(of: period), let act = acts.first(where: { $0.text == event.by }) else {
            return true
        }
        return act.detail > 0 && event.at + act.detail <= time
    }

    func mayHoldBeOver(in touched: Range<Int>, by time: Int64, _ acts: [KillLoop.Act]) -> Bool {
        touched.contains { self.mayHoldBeOver(self.periods[$0], by: time, acts) }
    }

    private func holdEvent(of period: Period) -> KillLoop.File.Event? {
        // Nothing but another hold, a release or a reset happens to a circuit that is held.
        period.hold == nil ? nil : period.event
    }
}
