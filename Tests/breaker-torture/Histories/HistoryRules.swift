/// The rules of a circuit, and what follows by them from each event.
struct HistoryRules {
    /// Trips at so many failures.
    var number = 2
    /// Whether a success forgets them.
    var isConsecutive = false
    var recovery: Int64 = 10_000_000
    var multiplier: Int64 = 1
    var cap: Int64 = 25_000_000
    var probes = 1
    var successes = 1
    var lease: Int64 = 30_000_000

    /// All states in which the circuit may be afterwards; none if the answer is impossible.
    func states(after event: HistoryEvent, from circuit: HistoryCircuit) -> [HistoryCircuit] {
        var states: [HistoryCircuit] = []
        let latest = event.times.last ?? 0
        for now in event.times {
            // A call ends before its end is decided on, which matters where a success forgets what ended before.
            for ended in self.isConsecutive ? event.times.prefix(while: { $0 <= now }) : [0] {
                let moment = Moment(now: now, ended: ended, latest: latest)
                for state in self.states(after: event.what, from: circuit, moment) where !states.contains(state) {
                    states.append(state)
                }
            }
        }
        return states
    }

    private struct Moment {
        var now: Int64
        var ended: Int64
        var latest: Int64
    }

    private func states(
        after what: HistoryEvent.What, from circuit: HistoryCircuit, _ moment: Moment
    ) -> [HistoryCircuit] {
        var next = circuit
        switch what {
        case .registered:
            // A process that knows the circuit already writes nothing.
            return circuit.exists ? [circuit] : [circuit, .new]
        case .admitted(let number, let worker, let answer, let isReported):
            if !next.exists { next = .new }
            let admission = self.admit(number, worker, &next, at: moment.now)
            // What nobody asks for is not kept: the fewer states there are, the shorter is the search.
            if !isReported { next.admitted.remove(number) }
            return answer.map { self.fits($0, admission, moment) } ?? true ? [next] : []
        case .counted(let number):
            guard circuit.exists, circuit.state == .closed, circuit.hold(at: moment.now) == nil else { return [] }
            next.admitted.insert(number)
            return [next]
        case .reported(let admission, let outcome, let isKnown):
            return self.states(afterReportOf: admission, outcome, isKnown, from: circuit, moment)
        case .recorded(let outcome):
            if !next.exists { next = .new }
            self.record(outcome, in: &next, moment)
            return [next]
        case .operated(let action, let found):
            guard found ?? circuit.exists == circuit.exists else { return [] }
            if circuit.exists { self.operate(action, on: &next, at: moment.now) }
            return [next]
        case .looked(let look):
            return look.map { $0 == circuit.look(at: moment.now) } ?? true ? [circuit] : []
        case .asked(let isPermitted):
            // Memory answers for a circuit that is not there.
            guard let isPermitted, circuit.exists else { return [circuit] }
            return isPermitted == (self.answer(circuit, at: moment.now) == .ran) ? [circuit] : []
        case .died(let worker):
            for index in next.probes.indices where next.probes[index].worker == worker {
                next.probes[index].isDead = true
            }
            return [next]
        }
    }

    // MARK: - Admissions

    /// What a call gets; the time of a refusal is the end, not what is left.
    private func answer(_ circuit: HistoryCircuit, at now: Int64) -> HistoryEvent.Admission {
        if let hold = circuit.hold(at: now) { return hold.isOpen ? .held(retryAfter: hold.until) : .ran }
        switch circuit.state {
        case .closed: return .ran
        case .open(let until): return now < until ? .open(retryAfter: until) : .ran
        case .halfOpen: return circuit.liveProbes(at: now).count < self.probes ? .ran : .probing
        }
    }

    private func admit(
        _ number: Int, _ worker: Int, _ circuit: inout HistoryCircuit, at now: Int64
    ) -> HistoryEvent.Admission {
        let answer = self.answer(circuit, at: now)
        guard answer == .ran, circuit.hold(at: now) == nil else { return answer }
        switch circuit.state {
        case .closed:
            circuit.admitted.insert(number)
            return .ran
        case .open: circuit.enter(.halfOpen(successes: 0))
        case .halfOpen: circuit.probes = circuit.liveProbes(at: now)
        }
        circuit.probes.append(.init(admission: number, worker: worker, leaseEnds: now + self.lease))
        return .ran
    }

    /// Whether this is what a caller was told; the clock may have gone on before what is left was worked out.
    private func fits(_ told: HistoryEvent.Admission, _ answer: HistoryEvent.Admission, _ moment: Moment) -> Bool {
        switch (told, answer) {
        case (.ran, .ran), (.probing, .probing): true
        case (.open(let left), .open(let until)), (.held(let left), .held(let until)):
            switch (left, until) {
            case (nil, _): true
            case (_, nil): false
            case (let left?, let until?): (max(0, until - moment.latest)...until - moment.now).contains(left)
            }
        case (.ran, _), (.probing, _), (.open, _), (.held, _): false
        }
    }

    // MARK: - Ends of calls

    private func states(
        afterReportOf admission: Int, _ outcome: RecordedOutcome, _ isKnown: Bool, from circuit: HistoryCircuit,
        _ moment: Moment
    ) -> [HistoryCircuit] {
        var next = circuit
        if next.admitted.remove(admission) != nil {
            self.callEnded(outcome, in: &next, moment)
            return [next]
        }
        guard let index = next.probes.firstIndex(where: { $0.admission == admission }) else {
            // Memory may have let the call through, and has told the file of it.
            if !isKnown, case .closed = circuit.state, circuit.hold(at: moment.now) == nil {
                self.callEnded(outcome, in: &next, moment)
            }
            return [circuit, next]
        }
        let probe = next.probes.remove(at: index)
        let without = next
        if moment.now < probe.leaseEnds { self.probeEnded(outcome, in: &next, at: moment.now) }
        // A process without its file is another worker afterwards. Somebody may have swept the earlier one's probes.
        return probe.isDead ? [without, next] : [next]
    }

    private func record(_ outcome: RecordedOutcome, in circuit: inout HistoryCircuit, _ moment: Moment) {
        // No admission has this number.
        let number = -1
        guard self.admit(number, number, &circuit, at: moment.now) == .ran else { return }
        if circuit.admitted.remove(number) != nil { return self.callEnded(outcome, in: &circuit, moment) }
        guard let index = circuit.probes.firstIndex(where: { $0.admission == number }) else { return }
        circuit.probes.remove(at: index)
        self.probeEnded(outcome, in: &circuit, at: moment.now)
    }

    /// A call ended that a closed circuit has let through.
    private func callEnded(_ outcome: RecordedOutcome, in circuit: inout HistoryCircuit, _ moment: Moment) {
        switch outcome {
        case .ignored: return
        case .success:
            guard self.isConsecutive, circuit.failures.contains(where: { $0 <= moment.ended }) else { return }
            circuit.failures.removeAll { $0 <= moment.ended }
            circuit.forgottenUntil = max(circuit.forgottenUntil ?? moment.ended, moment.ended)
        case .failure:
            if let forgotten = circuit.forgottenUntil, moment.ended < forgotten { return }
            circuit.failures.append(moment.ended)
            circuit.failures.sort()
            if circuit.failures.count >= self.number { self.trip(&circuit, at: moment.now) }
        }
    }

    private func probeEnded(_ outcome: RecordedOutcome, in circuit: inout HistoryCircuit, at now: Int64) {
        guard case .halfOpen(let successes) = circuit.state else { return }
        switch outcome {
        case .ignored: return
        case .failure: self.trip(&circuit, at: now)
        case .success where successes + 1 < self.successes: circuit.state = .halfOpen(successes: successes + 1)
        case .success:
            circuit.failures = []
            circuit.trips = 0
            circuit.enter(.closed)
        }
    }

    private func trip(_ circuit: inout HistoryCircuit, at now: Int64) {
        var time = self.recovery
        for _ in 0..<circuit.trips where time < self.cap { time *= self.multiplier }
        circuit.trips += 1
        circuit.enter(.open(until: now + min(time, max(self.cap, self.recovery))))
    }

    // MARK: - Operators

    private func operate(_ action: HistoryEvent.Action, on circuit: inout HistoryCircuit, at now: Int64) {
        switch action {
        case .reset: circuit = .new
        case .forget: circuit = HistoryCircuit()
        case .hold(let isOpen, let time):
            if case .halfOpen = circuit.state {
                circuit.enter(.open(until: now))
            } else {
                circuit.enter(circuit.state)
            }
            circuit.hold = .init(isOpen: isOpen, until: time.map { now + $0 })
        case .release:
            guard circuit.hold(at: now) != nil else { return }
            circuit.hold = nil
            circuit.enter(circuit.state)
        case .probe:
            guard circuit.hold(at: now) == nil, case .open(let until) = circuit.state, now < until else { return }
            circuit.enter(.open(until: now))
        }
    }
}
