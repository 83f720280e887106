extension KillLoop {
    /// What the history tells of one circuit: a walk of the machine, in periods.
    struct Story {
        enum Base: String {
            case closed, open
            case halfOpen = "half-open"
        }

        /// From one event to the next.
        struct Period {
            var start: Int64
            var end: Int64 = .max
            /// Its event is surely committed by then: until that, those who only look see what was before.
            var isSeenFrom: Int64 = .min
            var base: Base
            /// The time from which calls are let through again, where it is open.
            var openUntil: Int64 = 0
            var hold: String?
            /// The failures that count are those of one number: each reset, and each closing, begins another.
            var counting: Int
            var event: File.Event?

            var counts: Bool { self.base == .closed && self.hold == nil }
            var word: String { self.hold.map { "held-\($0)" } ?? self.base.rawValue }
        }

        let circuit: Int
        private let rule: Rule
        private(set) var periods: [Period] = []
        /// The event by which each counting tripped, if it did.
        private(set) var trips: [Int: File.Event] = [:]
        private(set) var epoch: Int64?
        private(set) var violations: [String] = []

        /// - Parameter acts: what each worker did with the circuit.
        init(of circuit: Int, _ events: [File.Event], _ acts: [Int64: [Act]]) {
            self.circuit = circuit
            self.rule = Rule.all[circuit]
            self.periods = [Period(start: .min, base: .closed, counting: 0)]
            for event in events {
                let causes = (acts[event.worker] ?? []).filter { $0.start <= event.at && event.at <= $0.end }
                self.take(event, seenFrom: causes.map(\.end).max() ?? .max)
            }
        }

        var last: Period { self.periods[self.periods.count - 1] }

        private mutating func take(_ event: File.Event, seenFrom: Int64) {
            let before = self.last
            var next = before
            next.start = event.at
            next.isSeenFrom = seenFrom
            next.event = event
            var isLegal = event.was == before.word && event.at >= before.start
            var isNewEpoch = true
            switch event.kind {
            case "tripped":
                isLegal = isLegal && before.counts && self.trips[before.counting] == nil
                self.trips[before.counting] = event
                (next.base, next.openUntil) = (.open, event.at + self.rule.recovery)
            case "probing":
                isLegal = isLegal && before.base == .open && before.hold == nil && event.at >= before.openUntil
                next.base = .halfOpen
            case "reopened":
                isLegal = isLegal && before.base == .halfOpen && before.hold == nil
                (next.base, next.openUntil) = (.open, event.at + self.rule.recovery)
            case "closed":
                isLegal = isLegal && before.base == .halfOpen && before.hold == nil
                next.base = .closed
                next.counting += 1
            case "reset":
                (next.base, next.hold) = (.closed, nil)
                next.counting += 1
            case "held":
                next.hold = event.becomes?.split(separator: "-").last.map(String.init)
                if before.base == .halfOpen { (next.base, next.openUntil) = (.open, event.at) }
            case "released":
                isLegal = isLegal && before.hold != nil
                next.hold = nil
                isNewEpoch = event.reason != Oracle.timeIsOver
            default:
                isLegal = false
            }
            isLegal = isLegal && event.becomes == next.word
            if !isLegal {
                let state = "\(before.word), open until \(before.openUntil), since \(before.start)"
                self.violations.append("an illegal step from \(state): \(event)")
            }
            if isNewEpoch { self.epoch = max((self.epoch ?? .min).advanced(by: self.epoch == nil ? 0 : 1), event.at) }
            self.periods[self.periods.count - 1].end = event.at
            self.periods.append(next)
        }

        /// The places of the periods that touch a span of time.
        func periods(from start: Int64, to end: Int64) -> Range<Int> {
            var low = 0
            var high = self.periods.count
            // The first that has not ended before the start.
            while low < high {
                let middle = (low + high) / 2
                if self.periods[middle].end < start { low = middle + 1 } else { high = middle }
            }
            var after = low
            while after < self.periods.count, self.periods[after].start <= end { after += 1 }
            return low..<after
        }

        /// The period that surely was that of a span of time.
        func period(around start: Int64, _ end: Int64) -> Period? {
            let touched = self.periods(from: start, to: end)
            guard touched.count == 1, let index = touched.first else { return nil }
            let period = self.periods[index]
            return period.isSeenFrom < start && end < period.end ? period : nil
        }
    }
}
