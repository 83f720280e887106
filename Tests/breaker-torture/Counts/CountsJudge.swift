import BreakerTestSupport

/// Holds a round of the scene `windows` against what the processes have written down.
///
/// With t a tick and the longest time between two publishes of a process together, and c two periods: a circuit never
/// trips if F(W+t) of F(W+t) + S(W-t) calls are less than the share, at any instant at which a process may have asked.
/// S has all good calls that ended by then, but for those that their process published later than a second and c: so
/// long a process that asks waits for answers. It trips in the end if F(W-t-c) of F(W-t-c) + S(W+t) are as much, and
/// enough, though all good calls of the next two c are counted.
struct CountsJudge {
    struct Verdict {
        /// Failing ends at which the circuit had to be tripped, and those at which it must not trip.
        var musts = 0
        var mustNots = 0
        var violations: [String] = []
    }

    private struct Publish {
        /// What ended before this is among what was published by `done`.
        var begun: Int64
        var done: Int64
    }

    let rule: CountsRule
    /// When the circuit was closed.
    let start: Int64
    private let failures: [CountsTimes.Record]
    private let failuresEnded: [Int64]
    private let failuresReturned: [Int64]
    private let goodEnded: [Int64]
    private let goodReturned: [Int64]
    private let publishLateness: Lateness
    /// When the last call that was let through began.
    private let lastAdmission: Int64

    /// - Parameter processes: all records of each process, those of earlier rounds included.
    init(_ rule: CountsRule, since start: Int64, _ processes: [[CountsTimes.Record]]) {
        self.rule = rule
        self.start = start
        let calls = processes.joined().filter { $0.kind != .publish }
        self.failures = calls.filter { $0.kind == .failed && $0.begun >= start }.sorted { $0.returned < $1.returned }
        self.failuresEnded = self.failures.map(\.ended).sorted()
        self.failuresReturned = self.failures.map(\.returned)
        self.goodEnded = calls.filter { $0.kind == .good }.map(\.ended).sorted()
        self.goodReturned = calls.filter { $0.kind == .good }.map(\.returned).sorted()
        self.lastAdmission = calls.map(\.begun).max() ?? 0
        let publishes = processes.map { records in
            records.compactMap { record -> Publish? in
                switch record.kind {
                case .good: nil
                // A failing end takes the lanes along.
                case .failed: Publish(begun: record.ended, done: record.returned)
                case .publish: Publish(begun: record.begun, done: record.ended)
                }
            }.sorted { $0.begun < $1.begun }
        }
        let returns = processes.map { $0.filter { $0.kind != .publish }.map(\.returned).sorted() }
        let all = returns.joined().sorted()
        self.publishLateness = Self.lateness(rule, publishes, returns, of: all)
    }

    /// Two periods.
    private var wait: Int64 { 2 * self.rule.period }

    /// So long a process that asks waits for the answers of others.
    private var patience: Int64 { 1_000_000 + self.wait }

    /// - Parameter isTripped: whether the circuit was open in the end, long after the last call.
    func judge(isTripped: Bool) -> Verdict {
        var verdict = Verdict()
        var last = ""
        for failure in self.failures {
            let late = self.lateness(from: failure.ended, to: failure.returned)
            let (must, mustNot, what) = self.expected(at: failure.ended, failure.returned, late)
            if mustNot { verdict.mustNots += 1 }
            if must { verdict.musts += 1 }
            if must, !isTripped { verdict.violations.append("did not trip: \(what)") }
            last = what
        }
        if isTripped, !self.instantsOfQuestions.contains(where: { !self.mustNot(at: $0) }) {
            verdict.violations.append("tripped; the last failure: \(last)")
        }
        return verdict
    }

    /// When a process may have asked because of the share by which the circuit has tripped: a question is answered
    /// after some milliseconds, and a while before that a call was still let through.
    private var instantsOfQuestions: [Int64] {
        guard let end = self.failuresReturned.last else { return [] }
        let late = self.lateness(from: self.start, to: end).both
        let start = max(self.start, self.lastAdmission - 4 * self.wait - 2 * late)
        let between = stride(from: start, to: end, by: Int(max(1_000, self.rule.period / 4)))
        return self.failuresReturned.filter { $0 >= start } + between + [end]
    }

    private func mustNot(at time: Int64) -> Bool {
        self.expected(at: time, time, self.lateness(from: time, to: time)).mustNot
    }

    private func expected(
        at ended: Int64, _ returned: Int64, _ late: (publishes: Int64, both: Int64)
    ) -> (must: Bool, mustNot: Bool, what: String) {
        let window = self.rule.window
        let unpublished = max(0, late.publishes - self.patience)
        let maxBad =
            self.failuresEnded.countOfSorted(before: returned + 1)
            - self.failuresReturned.countOfSorted(before: ended - window - late.both)
        let end = returned + 2 * (self.wait + late.both)
        let leastBad =
            max(
                0,
                self.failuresReturned.countOfSorted(before: ended + 1)
                    - self.failuresEnded.countOfSorted(before: end - window + late.both))
        // What the lanes still had when the circuit was closed counts as of afterwards.
        let maxGood =
            self.goodEnded.countOfSorted(before: end + 1)
            - self.goodReturned.countOfSorted(before: max(ended - window, self.start) - late.both)
        let leastGood = max(
            0,
            self.goodReturned.countOfSorted(before: ended - unpublished)
                // A process that was let through after the start looks at the window before it publishes.
                - self.goodEnded.countOfSorted(before: max(returned - window + late.both, self.start)))
        let enough = max(
            0,
            self.goodReturned.countOfSorted(before: ended - late.both)
                - self.goodEnded.countOfSorted(before: max(end - window, self.start) + late.both))
        let mustNot = !self.isReached(bad: maxBad, good: leastGood) || maxBad + maxGood < self.rule.minimum
        let must = self.isReached(bad: leastBad, good: maxGood) && leastBad + enough >= self.rule.minimum
        let what =
            "F \(leastBad)…\(maxBad), S \(leastGood)…\(maxGood), t \(late.both / 1_000) ms, window "
            + "\(window / 1_000) ms, share \(self.rule.share), minimum \(self.rule.minimum), "
            + "\((ended - self.start) / 1_000) ms after the circuit was closed"
        return (must, mustNot, what)
    }

    private func isReached(bad: Int, good: Int) -> Bool {
        bad > 0 && Double(bad) / Double(bad + good) >= self.rule.share
    }

    // MARK: - Lateness

    /// How late publishes were, from two windows before to a question's end; and that and a tick together.
    private func lateness(from start: Int64, to end: Int64) -> (publishes: Int64, both: Int64) {
        let from = start - 2 * self.rule.window
        let publishes = self.publishLateness.most(from: from, to: end + 2 * self.wait)
        return (publishes, publishes + self.rule.tick)
    }

    /// For each window generation of time the longest time between two publishes of a process that touches it.
    private struct Lateness {
        private let start: Int64
        private let width: Int64
        private var most: [Int64]

        init(_ rule: CountsRule, from start: Int64, to end: Int64) {
            self.start = start
            self.width = max(1_000, rule.window / 16)
            self.most = [Int64](repeating: rule.tick, count: max(1, Int((end - start) / self.width) + 1))
        }

        private func place(_ time: Int64) -> Int {
            min(max(0, Int((time - self.start) / self.width)), self.most.count - 1)
        }

        mutating func add(from: Int64, to: Int64) {
            for place in self.place(from)...self.place(max(from, to)) {
                self.most[place] = max(self.most[place], to - from)
            }
        }

        func most(from: Int64, to: Int64) -> Int64 {
            self.most[self.place(from)...self.place(max(from, to))].max() ?? 0
        }
    }

    private static func lateness(
        _ rule: CountsRule, _ publishes: [[Publish]], _ returns: [[Int64]], of all: [Int64]
    ) -> Lateness {
        let start = all.first ?? 0
        let end = all.last ?? 0
        var lateness = Lateness(rule, from: start, to: end)
        for (publishes, returns) in zip(publishes, returns) {
            var before = start
            for publish in publishes {
                if let first = Self.first(returns, after: before), first < publish.begun {
                    lateness.add(from: first, to: publish.done)
                }
                before = publish.begun
            }
            if let first = Self.first(returns, after: before) { lateness.add(from: first, to: end) }
        }
        return lateness
    }

    private static func first(_ times: [Int64], after time: Int64) -> Int64? {
        let place = times.countOfSorted(before: time + 1)
        return place < times.count ? times[place] : nil
    }
}
