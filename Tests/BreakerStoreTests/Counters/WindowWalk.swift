import BreakerTestSupport

@testable import BreakerStore

/// A random life of a circuit in several processes, and a log of it that knows when each call ended.
struct WindowWalk {
    /// What the log says of one failing end, and what the sums say.
    struct Judgement {
        let sums: WindowCount?
        /// Failures and successes that may be in the window, at most and at least, by what the promise allows.
        let maxFailures, leastFailures, maxSuccesses, leastSuccesses: Int

        func trips(_ share: Double, _ minimum: Int) -> Bool {
            guard let sums, sums.calls >= minimum else { return false }
            return Double(sums.bad) / Double(sums.calls) >= share
        }

        func mustNotTrip(_ share: Double) -> Bool {
            Double(self.maxFailures) < share * Double(self.maxFailures + self.leastSuccesses)
        }

        func mustTrip(_ share: Double, _ minimum: Int) -> Bool {
            let calls = self.leastFailures + self.leastSuccesses
            return calls >= minimum && self.leastFailures > 0
                && Double(self.leastFailures) / Double(self.leastFailures + self.maxSuccesses) >= share
        }
    }

    private final class Process {
        let lanes = Lanes()
        /// Calls in a tick.
        var rate: Double
        var failing: Double
        var nextTick: Int64
        var stoppedUntil: Int64 = 0

        init(rate: Double, failing: Double, nextTick: Int64) {
            self.rate = rate
            self.failing = failing
            self.nextTick = nextTick
        }
    }

    let window: Int64
    let tick: Int64
    var random: SplitMix64
    private let counter: CircuitCells
    private var processes: [Process] = []
    private var now: Int64 = 1_000_000_000
    private var uptime: Uptime { Uptime(microseconds: self.now) }
    private var windowGeneration: WindowGeneration = 1
    private var generationStart: Int64 = 1_000_000_000
    private var failures: [Int64] = []
    private var successes: [Int64] = []
    /// When each process published.
    private var publishes: [[Int64]]

    init(seed: UInt64, processes count: Int) {
        self.random = SplitMix64(seed: seed)
        self.window = [1_000_000, 16_000_000, 60_000_000][self.random.number(in: 0...2)]
        self.tick = WindowTicks(window: self.window).length
        self.counter = CircuitCells(privately: CountingRules(failureWindow: self.window))
        for _ in 0..<count {
            self.processes.append(
                Process(
                    rate: [0.2, 2, 20, 200][self.random.number(in: 0...3)],
                    failing: [0, 0.02, 0.3, 0.6, 1][self.random.number(in: 0...4)],
                    nextTick: self.now + Int64(self.random.number(in: 0...Int(self.tick)))))
        }
        self.publishes = Array(repeating: [self.now], count: count)
    }

    /// Lets a piece of a tick pass; judges at its last failing end.
    mutating func step() -> Judgement? {
        self.now += self.tick / 8
        self.change()
        let failures = self.failures.count
        for index in self.processes.indices where self.processes[index].stoppedUntil <= self.now {
            let process = self.processes[index]
            var calls = Int(process.rate / 8)
            if self.share() < process.rate / 8 - Double(calls) { calls += 1 }
            for _ in 0..<calls {
                if self.share() < process.failing {
                    self.fail(index, process)
                } else {
                    process.lanes.add(.succeeded)
                    self.successes.append(self.now)
                }
            }
            if process.nextTick <= self.now {
                self.counter.publish(process.lanes, windowGeneration: self.windowGeneration) { [uptime = self.uptime] in
                    uptime
                }
                self.publishes[index].append(self.now)
                process.nextTick = self.now + self.tick + Int64(self.random.number(in: 0...Int(self.tick / 4)))
            }
        }
        return self.failures.count > failures ? self.judgement() : nil
    }

    private mutating func fail(_ index: Int, _ process: Process) {
        self.failures.append(self.now)
        if self.publishes[index].last != self.now { self.publishes[index].append(self.now) }
        self.counter.count(
            .failed, by: WorkerID(Int64(index + 1)), windowGeneration: self.windowGeneration, lanes: process.lanes
        ) { [uptime = self.uptime] in uptime }
    }

    /// Loads change, processes are stopped, everybody is idle, the circuit changes its state.
    private mutating func change() {
        switch self.random.number(in: 0...2_000) {
        case 0...10:
            let process = self.processes[self.random.number(in: 0...self.processes.count - 1)]
            process.rate = [0, 0.2, 2, 20, 200][self.random.number(in: 0...4)]
            process.failing = [0, 0.02, 0.3, 0.6, 1][self.random.number(in: 0...4)]
        case 11...12:
            let process = self.processes[self.random.number(in: 0...self.processes.count - 1)]
            process.stoppedUntil = self.now + self.tick * Int64(self.random.number(in: 1...4))
        case 13: self.now += self.window + self.tick
        case 14:
            self.windowGeneration = self.windowGeneration.next
            self.generationStart = self.now
            self.failures = []
        default: break
        }
        if self.failures.count > 40_000 { self.failures.removeFirst(20_000) }
        if self.successes.count > 400_000 { self.successes.removeFirst(200_000) }
    }

    private mutating func share() -> Double { Double(self.random.next() >> 11) * 0x1p-53 }

    private func judgement() -> Judgement {
        let start = self.now - 2 * self.window
        func longest(_ times: [Int64]) -> Int64 {
            var (gap, next) = (Int64(0), self.now)
            for time in times.reversed() {
                gap = max(gap, next - time)
                next = time
                if time < start { break }
            }
            return gap
        }
        // A failing end may count for a tick longer than the window, a good one as long as it waits to be published.
        let gap = (self.publishes.map(longest).max() ?? 0) + self.tick
        func count(_ times: [Int64], _ from: Int64, _ to: Int64) -> Int {
            times.countOfSorted(before: to + 1) - times.countOfSorted(before: from)
        }
        return Judgement(
            sums: self.counter.sums(windowGeneration: self.windowGeneration, at: self.uptime).failed,
            maxFailures: count(self.failures, self.now - self.window - gap, self.now),
            leastFailures: count(self.failures, self.now - self.window + gap, self.now),
            // What the lanes still have when the circuit changes its state counts as of afterwards.
            maxSuccesses: count(self.successes, max(self.now - self.window, self.generationStart) - gap, self.now),
            leastSuccesses: count(
                self.successes, max(self.now - self.window, self.generationStart) + gap, self.now - gap))
    }
}
