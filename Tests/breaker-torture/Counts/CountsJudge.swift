import BreakerTestSupport

/// Holds a round of the scene `windows` against what the processes have written down.
///
/// With t the longest time between two looks and the longest between two publishes of a process together: a circuit
/// never trips if F(W+t) of F(W+t) + S(W-t) calls are less than the share. It always trips if F(W-t) of F(W-t) + S(W+t)
/// are as much, and enough. Together, because a look tells what was published before it: a call that ended just after a
/// publish is published late, and then comes into the next look.
struct CountsJudge {
    struct Verdict {
        /// Failing ends that may have tripped the circuit and had to, and those at which it must not trip.
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
    private let lookLateness: Lateness
    private let publishLateness: Lateness
    /// When the last call that was let through began.
    private let lastAdmission: Int64

    /// - Parameter processes: all records of each process, those of earlier rounds included.
    init(_ rule: CountsRule, since start: Int64, looks: Set<Int64>, _ processes: [[CountsTimes.Record]]) {
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
        self.lookLateness = Self.lateness(rule, looks: looks.sorted(), of: all)
        self.publishLateness = Self.lateness(rule, publishes, returns, of: all)
    }

    /// - Parameter isTripped: whether the circuit was open in the end.
    func judge(isTripped: Bool) -> Verdict {
        var verdict = Verdict()
        var canHaveTripped = 0
        var mayHaveTripped = 0
        var last = ""
        for failure in self.failures {
            let late = self.lateness(at: failure)
            let (must, mustNot, what) = self.expected(at: failure, late)
            if mustNot { verdict.mustNots += 1 }
            // A call was let through after this one had returned, or in the end: the circuit was closed.
            let leftClosed = !isTripped || failure.returned < self.lastAdmission
            if must, leftClosed { verdict.violations.append("did not trip: \(what)") }
            guard !leftClosed else { continue }
            canHaveTripped += 1
            if must { verdict.musts += 1 }
            if !mustNot { mayHaveTripped += 1 }
            last = what
        }
        if isTripped, mayHaveTripped == 0 {
            verdict.violations.append("tripped, of \(canHaveTripped) failures the last: \(last)")
        }
        return verdict
    }

    private func expected(
        at failure: CountsTimes.Record, _ late: Int64
    ) -> (must: Bool, mustNot: Bool, what: String) {
        let window = self.rule.window
        let mostBad =
            self.failuresEnded.countOfSorted(before: failure.returned + 1)
            - self.failuresReturned.countOfSorted(before: failure.ended - window - late)
        let leastBad =
            1
            + max(
                0,
                self.failuresReturned.countOfSorted(before: failure.ended)
                    - self.failuresEnded.countOfSorted(before: failure.returned - window + late))
        // What the lanes still had when the circuit was closed counts as of afterwards.
        let mostGood =
            self.goodEnded.countOfSorted(before: failure.returned + 1)
            - self.goodReturned.countOfSorted(before: max(failure.ended - window, self.start) - late)
        let leastGood = max(
            0,
            self.goodReturned.countOfSorted(before: failure.ended - late)
                - self.goodEnded.countOfSorted(before: max(failure.returned - window, self.start) + late))
        let mustNot = !self.isReached(bad: mostBad, good: leastGood) || mostBad + mostGood < self.rule.minimum
        let must = self.isReached(bad: leastBad, good: mostGood) && leastBad + leastGood >= self.rule.minimum
        let what =
            "F \(leastBad)…\(mostBad), S \(leastGood)…\(mostGood), t \(late / 1_000) ms, window "
            + "\(window / 1_000) ms, share \(self.rule.share), minimum \(self.rule.minimum), "
            + "\((failure.ended - self.start) / 1_000) ms after the circuit was closed"
        return (must, mustNot, what)
    }

    private func isReached(bad: Int, good: Int) -> Bool {
        bad > 0 && Double(bad) / Double(bad + good) >= self.rule.share
    }

    // MARK: - Lateness

    /// How late looks and publishes were within two windows.
    private func lateness(at failure: CountsTimes.Record) -> Int64 {
        let from = failure.ended - 2 * self.rule.window
        return [self.lookLateness, self.publishLateness].reduce(0) { $0 + $1.most(from: from, to: failure.returned) }
    }

    /// For each stretch of time the longest time between two looks, or two publishes of a process, that touches it.
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

    private static func lateness(_ rule: CountsRule, looks: [Int64], of all: [Int64]) -> Lateness {
        let start = all.first ?? 0
        let end = all.last ?? 0
        var lateness = Lateness(rule, from: start, to: end)
        for (before, look) in zip([start] + looks, looks + [end]) {
            // Nobody looks while nothing happens.
            guard let first = Self.first(all, after: before), first < look else { continue }
            lateness.add(from: max(before, first - rule.tick), to: look)
        }
        return lateness
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
