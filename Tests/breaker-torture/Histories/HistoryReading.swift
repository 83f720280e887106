/// Makes the history of one circuit out of what the callers and the driver have written down.
struct HistoryReading {
    typealias Call = Linearizability<HistoryCircuit, HistoryEvent>.Call

    /// A process that was killed: what of its lanes is before these numbers had no other chance to end.
    struct Death {
        var process: Int
        var begin: Int64
        var end: Int64
        var clock: Int64
        /// Each lane's number of records then.
        var counts: [Int: Int]
    }

    /// When a process was without its file.
    struct Trouble {
        var begin: Int64
        var end: Int64
    }

    let rules: HistoryRules
    let judgesTime: Bool
    let records: [Int: [(number: Int, record: CallLog.Record)]]
    let words: [HistoryOperators.Word]
    let deaths: [Death]
    let troubles: [Int: Trouble]
    /// What the clock showed, from the beginning of the history on.
    let times: [Int64]

    private(set) var unknown = 0

    mutating func calls(of circuit: Int) -> [Call] {
        var calls: [Call] = []
        for lane in self.records.keys.sorted() {
            var admissions: [Int: (index: Int, isKnown: Bool)] = [:]
            for (number, record) in self.records[lane] ?? [] where record.circuit == circuit || record.what == .close {
                self.add(record, number, of: lane, to: &calls, &admissions)
            }
        }
        for word in self.words where word.circuit == circuit { self.add(word, to: &calls) }
        for death in self.deaths {
            calls.append(
                Call(begin: death.begin, end: death.end, event: self.event(.died(worker: death.process), 0...0)))
        }
        self.markReported(&calls)
        for (process, trouble) in self.troubles.sorted(by: { $0.key < $1.key }) {
            // The process is another worker when it has its file again.
            let event = self.event(.died(worker: process), 0...0)
            calls.append(Call(begin: trouble.begin, end: .max, isCertain: false, event: event))
        }
        return calls
    }

    /// Tells admissions whose end is reported from others.
    private func markReported(_ calls: inout [Call]) {
        var reported: Set<Int> = []
        for call in calls { if case .reported(let admission, _, _) = call.event.what { reported.insert(admission) } }
        for index in calls.indices {
            guard case .admitted(let number, let worker, let answer, _) = calls[index].event.what else { continue }
            calls[index].event.what = .admitted(number, worker: worker, answer, isReported: reported.contains(number))
        }
    }

    private func event(_ what: HistoryEvent.What, _ clock: ClosedRange<Int64>) -> HistoryEvent {
        let times = self.times.filter(clock.contains)
        return HistoryEvent(what: what, times: times.isEmpty ? [clock.lowerBound] : times)
    }

    // MARK: - Callers

    private mutating func add(
        _ record: CallLog.Record, _ number: Int, of lane: Int, to calls: inout [Call],
        _ admissions: inout [Int: (index: Int, isKnown: Bool)]
    ) {
        let process = lane / 2
        let death = self.deaths.first { $0.process == process && number < $0.counts[lane] ?? 0 }
        var call = Call(begin: record.begin, end: record.end, event: self.event(.registered, record.clock))
        var clock = record.clock
        let isCut = record.end == 0
        let wasTroubled = self.wasTroubled(record, process)
        if isCut || record.answer == .later || record.answer == .failed || wasTroubled {
            call.isCertain = false
            call.end = isCut || record.answer == .later ? death?.end ?? .max : .max
            clock = clock.lowerBound...(death?.clock ?? .max)
            if record.answer != .later { self.unknown += 1 }
        }
        let admission = admissions[record.admission]
        guard
            let what = self.what(
                record, process, of: calls.count, isCertain: call.isCertain, admission)
        else { return }
        if record.what == .admit { admissions[number] = (calls.count, call.isCertain) }
        call.event = self.event(what, clock)
        call.isRead = call.event.isRead
        // Whose admission is not known may have been let through by memory, which tells the file later.
        if record.what == .report, let admission, !admission.isKnown { (call.isCertain, call.end) = (false, .max) }
        calls.append(call)
        // A commit into a file that went away is made again once the file is there.
        if wasTroubled, !isCut {
            call.after = calls.count - 1
            calls.append(call)
        }
    }

    /// Whether the caller could see that its store had lost the file.
    private func wasTroubled(_ record: CallLog.Record, _ process: Int) -> Bool {
        if record.end != 0, !record.isHealthy { return true }
        guard let trouble = self.troubles[process] else { return false }
        return record.begin <= trouble.end && (record.end == 0 || record.end >= trouble.begin)
    }

    /// Nil for what changes nothing and whose answer is not known.
    private func what(
        _ record: CallLog.Record, _ process: Int, of index: Int, isCertain: Bool,
        _ admission: (index: Int, isKnown: Bool)?
    ) -> HistoryEvent.What? {
        let outcome = RecordedOutcome(rawValue: record.argument) ?? .ignored
        let found: Bool? = isCertain ? record.answer == .done : nil
        let time = record.argument == 0 ? nil : record.argument
        switch record.what {
        case .register: return .registered
        case .admit: return .admitted(index, worker: process, isCertain ? self.admission(record) : nil)
        case .report:
            guard let admission else { return nil }
            return .reported(of: admission.index, outcome, isKnown: admission.isKnown)
        case .record: return .recorded(outcome)
        case .reset: return .operated(.reset, found: found)
        case .holdOpen: return .operated(.hold(isOpen: true, time: time), found: found)
        case .holdClosed: return .operated(.hold(isOpen: false, time: time), found: found)
        case .release: return .operated(.release, found: found)
        case .probe: return .operated(.probe, found: found)
        case .forget: return .operated(.forget, found: found)
        case .look:
            guard isCertain else { return nil }
            return .looked(record.answer == .nobody ? .init() : .init(packed: record.value))
        case .permitted: return isCertain ? .asked(isPermitted: record.answer == .yes) : nil
        case .close: return .died(worker: process)
        }
    }

    private func admission(_ record: CallLog.Record) -> HistoryEvent.Admission {
        let left = self.judgesTime && record.value != CallLog.noValue ? record.value : nil
        return switch record.answer {
        case .open: .open(retryAfter: left)
        case .held: .held(retryAfter: left)
        case .probing: .probing
        case .ran, .done, .yes, .no, .nobody, .failed, .later, nil: .ran
        }
    }

    // MARK: - Operators

    private mutating func add(_ word: HistoryOperators.Word, to calls: inout [Call]) {
        if !word.isCertain { self.unknown += 1 }
        let first = calls.count
        for what in word.whats {
            var numbered = what
            switch what {
            case .counted: numbered = .counted(first)
            case .reported(_, let outcome, let isKnown): numbered = .reported(of: first, outcome, isKnown: isKnown)
            case .registered, .admitted, .recorded, .operated, .looked, .asked, .died: break
            }
            calls.append(
                Call(
                    begin: word.begin, end: word.isCertain ? word.end : .max, isCertain: word.isCertain,
                    after: calls.count > first ? first : nil, event: self.event(numbered, word.clock)))
        }
    }
}
