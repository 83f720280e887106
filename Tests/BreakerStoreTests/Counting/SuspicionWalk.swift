import BreakerTestSupport

@testable import BreakerStore

/// Random traffic of several processes that begins, stops and changes, and a log that knows when each call ended.
///
/// Failing ends are counted at once, good ones when their process publishes. A share that is reached is suspected, and
/// trips the circuit if it is still reached once all have published, as `StoreCore` does it; time is simulated.
struct SuspicionWalk {
    /// What a walk has shown, compared with the log.
    struct Findings {
        var trips = 0
        /// Trips of circuits whose calls had not reached the share, as far as a tick allows to tell.
        var early = 0
        /// Failing ends at which the share was reached, and after which the circuit did not trip in time.
        var missed = 0

        static func + (one: Self, other: Self) -> Self {
            Self(trips: one.trips + other.trips, early: one.early + other.early, missed: one.missed + other.missed)
        }
    }

    private final class Process {
        let lanes = Lanes()
        var nextPublish: Int64
        /// Microseconds between two calls; nil for none.
        var pause: Int64?
        var nextCall: Int64
        var failing = 0.0
        var until: Int64

        init(_ now: Int64, publishesAt time: Int64) {
            self.nextPublish = time
            self.nextCall = now
            self.until = now
        }
    }

    private let window: Int64
    private let tick: Int64
    private let period: Int64
    private let rules: Rules
    private let share: Double
    private let minimum: Int
    /// Whether a share trips the circuit without being suspected first.
    private let decidesAtOnce: Bool
    private let counter: CircuitCells
    private var random: SplitMix64
    private var processes: [Process] = []
    private var now: Int64 = 1_000_000_000
    private var suspicion: (calls: Circuit.WindowCounts, goodBefore: [WindowSubject: Int64], at: Int64)?
    private var bad: [Int64] = []
    private var good: [Int64] = []

    init(seed: UInt64, decidesAtOnce: Bool = false) {
        self.random = SplitMix64(seed: seed)
        self.window = [1_000_000, 5_000_000, 20_000_000][self.random.number(in: 0...2)]
        self.tick = WindowTicks(window: self.window).length
        self.period = min(50_000, self.tick)
        self.share = [0.1, 0.3, 0.5, 0.8][self.random.number(in: 0...3)]
        self.minimum = [10, 20, 100][self.random.number(in: 0...2)]
        self.decidesAtOnce = decidesAtOnce
        self.rules = Rules(
            .init(
                name: "a",
                trip: .failureRate(self.share, minimumCalls: self.minimum, within: .microseconds(self.window))))
        self.counter = CircuitCells(privately: CountingRules(self.rules))
        for _ in 0..<self.random.number(in: 2...5) {
            let first = self.now + Int64(self.random.number(in: 0...Int(self.period)))
            self.processes.append(Process(self.now, publishesAt: first))
        }
    }

    /// Plays three windows, or until the circuit trips.
    mutating func run() -> Findings {
        var findings = Findings()
        let end = self.now + 3 * self.window
        while self.now < end {
            self.now += 1_000
            if let share = self.step() {
                findings.trips = 1
                if self.isEarly(share) { findings.early = 1 }
                break
            }
            if self.hadToTrip() {
                findings.missed = 1
                break
            }
        }
        return findings
    }

    // MARK: - A millisecond

    /// Returns when the share had been reached by which the circuit trips.
    private mutating func step() -> Int64? {
        for (index, process) in self.processes.enumerated() {
            self.change(process)
            while let pause = process.pause, process.nextCall <= self.now {
                process.nextCall += max(1, pause)
                if self.chance() < process.failing {
                    if let trip = self.fail(index, process) { return trip }
                } else {
                    process.lanes.add(.succeeded)
                    self.good.append(self.now)
                }
            }
            if process.nextPublish <= self.now {
                self.counter.publish(process.lanes) { [now] in now }
                process.nextPublish += self.period
            }
        }
        return self.endSuspicion()
    }

    private mutating func fail(_ index: Int, _ process: Process) -> Int64? {
        self.bad.append(self.now)
        self.counter.count(.failed, by: Int64(index + 1), lanes: process.lanes) { [now] in now }
        guard self.suspicion == nil, self.suspect() else { return nil }
        return self.decidesAtOnce ? self.now : nil
    }

    private mutating func suspect() -> Bool {
        let good = self.counter.goodEver
        let calls = self.counter.sums(at: self.now)
        self.suspicion = self.rules.share(reachedBy: calls) == nil ? nil : (calls, good, self.now)
        return self.suspicion != nil
    }

    private mutating func endSuspicion() -> Int64? {
        guard let (calls, goodBefore, at) = self.suspicion, self.now >= at + 2 * self.period else { return nil }
        let counted = calls.with(good: self.counter.goodEver, since: goodBefore)
        if self.rules.share(reachedBy: counted) != nil { return at }
        _ = self.suspect()
        return nil
    }

    /// Now and then a process behaves in another way: it is idle, calls often or seldom, fails or does not.
    private mutating func change(_ process: Process) {
        guard process.until <= self.now else { return }
        process.until = self.now + Int64(Double(self.window) * (0.05 + self.chance() * 0.95))
        process.nextCall = self.now
        let isIdle = self.chance() < 0.3
        let perWindow = [10.0, 40, 200, 1_000, 4_000][self.random.number(in: 0...4)]
        process.pause = isIdle ? nil : Int64(Double(self.window) / perWindow)
        process.failing = [0, 0, 0, 0.05, self.share * 0.8, self.share * 1.2, 1][self.random.number(in: 0...6)]
    }

    private mutating func chance() -> Double { Double(self.random.next() >> 11) * 0x1p-53 }

    // MARK: - The log

    private func count(_ times: [Int64], from start: Int64, to end: Int64) -> Int {
        times.countOfSorted(before: end + 1) - times.countOfSorted(before: start)
    }

    /// Whether the share was not reached at an instant, though the window is taken as a tick and a publish longer for
    /// failing calls and shorter for good ones.
    private func isEarly(_ time: Int64) -> Bool {
        let edge = self.tick + 2 * self.period
        let bad = self.count(self.bad, from: time - self.window - edge, to: time)
        let good = self.count(self.good, from: time - self.window + edge, to: time)
        return Double(bad) < self.share * Double(bad + good)
            || bad + self.count(self.good, from: time - self.window - edge, to: time) < self.minimum
    }

    /// Whether a call failed four periods ago with which the share was reached, though the window is taken as shorter
    /// for failing calls, and as longer for good ones and until now.
    ///
    /// Two periods end a suspicion that was there before, two the one that comes then.
    private func hadToTrip() -> Bool {
        let time = self.now - 4 * self.period
        guard self.count(self.bad, from: time, to: time) > 0 else { return false }
        let edge = self.tick + 4 * self.period
        let bad = self.count(self.bad, from: time - self.window + edge, to: time)
        let good = self.count(self.good, from: time - self.window - edge, to: self.now)
        let least = self.count(self.good, from: time - self.window + edge, to: time - self.period)
        return bad + least >= self.minimum && Double(bad) >= self.share * Double(bad + good)
    }
}
