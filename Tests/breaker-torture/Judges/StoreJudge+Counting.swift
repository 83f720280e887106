extension StoreJudge {
    /// What a call is told fits the state of that time.
    mutating func checkAnswers(_ walk: LegalWalk, _ name: String, _ calls: [NotedCall]) {
        var admissions: [String: NotedCall] = [:]
        for call in calls {
            switch call.what {
            case .admit:
                admissions[call.text] = call
                guard call.isAcknowledged, let period = walk.period(around: call.start, call.end) else { continue }
                let isOpen = period.base == .open && period.hold == nil && call.end < period.openUntil ?? .min
                let isHeldOpen = period.hold == "open" && !walk.mayHoldBeOver(period, by: call.end, calls)
                if isOpen || isHeldOpen, call.record.answer == .ran {
                    self.violated("\(name): \(call) was let through in \(period)")
                }
                if period.counts || period.hold == "closed", call.record.answer != .ran, period.base == .closed {
                    self.violated("\(name): \(call) was refused in \(period)")
                }
            case .report where call.isFailure || call.isSuccess:
                guard call.isAcknowledged, let admission = admissions[call.admissionText],
                    let period = walk.probing(of: admission), period.start <= admission.end, call.end < period.end
                else { continue }
                self.violated("\(name): \(call) ended a probe, but nothing followed in \(period)")
            case .register, .report, .record, .reset, .holdOpen, .holdClosed, .release, .probe, .forget, .look,
                .permitted, .close:
                continue
            }
        }
    }

    /// All acknowledged failures count, none counts twice: the threshold is met when it must be and no sooner, and
    /// those that are not forgotten are there.
    mutating func checkCounts(_ walk: LegalWalk, _ name: String, _ calls: [NotedCall]) {
        guard let threshold = walk.rules?.failures else { return }
        var certain: [Int: [NotedCall]] = [:]
        var possible: [Int: [NotedCall]] = [:]
        var admissions: [String: NotedCall] = [:]
        for call in calls {
            if call.what == .admit { admissions[call.text] = call }
            guard call.isFailure else { continue }
            var isIn: Set<Int> = []
            for index in walk.periods(from: call.start, to: call.end) where walk.periods[index].counts {
                if isIn.insert(walk.periods[index].counting).inserted {
                    possible[walk.periods[index].counting, default: []].append(call)
                }
            }
            guard call.isAcknowledged else { continue }
            var start = call.start
            if call.what == .report {
                // It counts only in the epoch of its admission.
                guard let admission = admissions[call.admissionText] else { continue }
                start = admission.start
            }
            if let period = walk.period(around: start, call.end), period.counts {
                certain[period.counting, default: []].append(call)
            }
        }
        for counting in 0...walk.last.counting {
            let least = certain[counting] ?? []
            let most = possible[counting] ?? []
            if let trip = walk.trips[counting] {
                // The one that met the threshold is in no period, for it ended one.
                if least.count >= threshold || most.count < threshold {
                    self.violated("\(name): tripped by \(least.count) to \(most.count) failures: \(trip)")
                }
            } else if least.count >= threshold {
                self.violated("\(name): not tripped by \(least.count) failures in counting \(counting)")
            }
        }
        let last = walk.last.counting
        self.checkRows(walk, name, threshold, certain[last] ?? [], possible[last] ?? [])
    }

    /// The failures that count now.
    private mutating func checkRows(
        _ walk: LegalWalk, _ name: String, _ threshold: Int, _ certain: [NotedCall], _ possible: [NotedCall]
    ) {
        let rows = self.file.failures.filter { $0.circuit == name }
        let isTripped = walk.trips[walk.last.counting] != nil
        if isTripped ? rows.count != threshold : rows.count >= threshold {
            self.violated("\(name): \(rows.count) failures count in \(walk.last)")
        }
        // Where all rows have a call, and all calls a row, both can be had at once (Mendelsohn and Dulmage).
        for row in Self.match(rows, possible).rows { self.violated("\(name): nobody reported \(row)") }
        for call in Self.match(rows, certain).calls {
            self.violated("\(name): \(call) was acknowledged and does not count")
        }
    }

    /// What is left when each row has had the call that ended first of those that it may tell of.
    private static func match(
        _ rows: [StoreFile.Failure], _ calls: [NotedCall]
    ) -> (rows: [StoreFile.Failure], calls: [NotedCall]) {
        var left = Dictionary(grouping: calls, by: \.worker).mapValues { $0.sorted { $0.end < $1.end } }
        var leftRows: [StoreFile.Failure] = []
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

extension LegalWalk {
    /// The half-open period in which an admission surely took a slot.
    func probing(of admission: NotedCall) -> Period? {
        guard admission.record.answer == .ran else { return nil }
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
    func mayHoldBeOver(_ period: Period, by time: Int64, _ calls: [NotedCall]) -> Bool {
        guard let event = self.holdEvent(of: period), let call = calls.first(where: { $0.text == event.by }) else {
            return true
        }
        return call.record.argument > 0 && event.at + call.record.argument <= time
    }

    func mayHoldBeOver(in touched: Range<Int>, by time: Int64, _ calls: [NotedCall]) -> Bool {
        touched.contains { self.mayHoldBeOver(self.periods[$0], by: time, calls) }
    }

    private func holdEvent(of period: Period) -> StoreFile.Event? {
        // Nothing but another hold, a release or a reset happens to a circuit that is held.
        period.hold == nil ? nil : period.event
    }
}
