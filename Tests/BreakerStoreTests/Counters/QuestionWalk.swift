import BreakerTestSupport

@testable import BreakerStore

/// Random traffic of several processes that begins, stops and changes, and a log that knows when each call ended.
///
/// Failures are counted at once, successes when their process publishes. A process that sees the rate reached asks, and
/// the others answer, as `StoreCore` does it, by the same pure values; time is simulated. Processes are stopped for up
/// to 0.9 s, killed and started, and threads stop while they move counts.
struct QuestionWalk {
    /// A wrong line that the walk must notice.
    enum Plant: CaseIterable {
        /// The circuit trips as soon as the rate seems to be reached.
        case decidesAtOnce
        /// A worker answers while another of its threads moves counts from lanes to cells.
        case answerWhileMoving
        /// The failures of then are compared with the window of now.
        case windowOfNow
        /// The asker does not answer its own question.
        case silentAsker
        /// A worker that takes a seat has answered what was asked before.
        case seatUsedAgain
    }

    /// What a walk has shown, compared with the log.
    struct Findings {
        var trips = 0
        /// Trips of circuits whose calls had not reached the rate, as far as a tick allows to tell.
        var early = 0
        /// Failures at which the rate was reached, and after which the circuit did not trip in time.
        var missed = 0

        static func + (one: Self, other: Self) -> Self {
            Self(trips: one.trips + other.trips, early: one.early + other.early, missed: one.missed + other.missed)
        }
    }

    private final class Process {
        let worker: WorkerID
        let lanes = Lanes()
        var isAlive = true
        var stoppedUntil: Int64 = 0
        var nextPublish: Int64
        /// When it has cells and takes its seat; it has calls before, and keeps them.
        var seatAt: Int64
        var place: Int?
        var answered: UInt64 = 0
        /// Successes that another thread has taken from the lanes and not yet added to the cells.
        var moving: (count: UInt64, since: Int64, until: Int64)?
        /// The successes that are not published yet, by when they ended.
        var unpublished: [Int64] = []
        var knownBad: UInt64 = 0
        var check: RateCheck?
        var kept: (calls: Circuit.WindowCounts, good: [WindowSubject: Int64], bad: UInt64, at: Int64)?
        /// When a thread of it asks because of what others have counted.
        var asksAt: Int64?
        /// Microseconds between two calls; nil for none.
        var pause: Int64?
        var nextCall: Int64
        var failing = 0.0
        var until: Int64

        init(_ worker: WorkerID, _ now: Int64, publishesAt time: Int64, seatAt: Int64) {
            self.worker = worker
            self.nextPublish = time
            self.seatAt = seatAt
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
    private let plant: Plant?
    /// Whether the calls of all processes fail at about the share, so that a few calls more or less decide.
    private let isNear: Bool
    private let counter: CircuitCells
    private var random: SplitMix64
    private var processes: [Process] = []
    private var seats: [Seats.Taken?] = []
    private var asked: UInt64 = 0
    private var now: Int64 = 1_000_000_000
    private var uptime: Uptime { Uptime(microseconds: self.now) }
    private let start = RateQuestion.Instant.now
    private var bad: [Int64] = []
    private var good: [Int64] = []
    private var lost: [Int64] = []

    init(seed: UInt64, plant: Plant? = nil) {
        self.random = SplitMix64(seed: seed)
        self.window = [1_000_000, 1_000_000, 5_000_000, 20_000_000][self.random.number(in: 0...3)]
        self.tick = WindowTicks(window: self.window).length
        self.period = min(50_000, self.tick)
        self.share = [0.1, 0.3, 0.5, 0.8][self.random.number(in: 0...3)]
        self.minimum = [10, 20, 100][self.random.number(in: 0...2)]
        self.plant = plant
        self.isNear = seed.isMultiple(of: 2)
        self.rules = Rules(
            .init(
                name: "a",
                trip: .failureRate(self.share, minimumCalls: self.minimum, within: .microseconds(self.window))))
        self.counter = CircuitCells(privately: CountingRules(self.rules))
        for _ in 0..<self.random.number(in: 2...5) { self.startProcess() }
    }

    private mutating func startProcess() {
        let first = self.now + Int64(self.random.number(in: 0...Int(self.period)))
        let seat = self.now + Int64(self.random.number(in: 0...300_000))
        let worker = WorkerID(Int64(self.processes.count + 1))
        self.processes.append(Process(worker, self.now, publishesAt: first, seatAt: seat))
    }

    private var instant: RateQuestion.Instant { self.start + .microseconds(self.now - 1_000_000_000) }

    /// Plays three windows, or until the circuit trips.
    mutating func run() -> Findings {
        var findings = Findings()
        let end = self.now + 3 * self.window
        while self.now < end {
            self.now += 1_000
            if let time = self.step() {
                findings.trips = 1
                if self.isEarly(time) { findings.early = 1 }
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

    /// Returns when the rate had been reached by which the circuit trips.
    private mutating func step() -> Int64? {
        for process in self.processes where process.isAlive {
            self.change(process)
            guard process.isAlive, process.stoppedUntil <= self.now else { continue }
            if let moving = process.moving, moving.until <= self.now {
                self.endMove(process, moving.count, moving.since)
            }
            if let time = self.call(process) { return time }
            if process.place == nil, process.seatAt <= self.now { self.sit(process) }
            // Woken by its bell, a worker comes to answer within some milliseconds.
            let isRung = process.answered != self.asked && self.chance() < 0.4
            if process.place != nil, process.nextPublish <= self.now || isRung { self.publish(process) }
            if let asksAt = process.asksAt, asksAt <= self.now {
                process.asksAt = nil
                if let time = self.ask(process) { return time }
            }
            if let time = self.decide(process) { return time }
        }
        return nil
    }

    private mutating func call(_ process: Process) -> Int64? {
        while let pause = process.pause, process.nextCall <= self.now {
            process.nextCall += max(1, pause)
            if self.chance() < process.failing {
                // A failure waits for the thread that moves counts.
                guard process.moving == nil else { continue }
                if let trip = self.fail(process) { return trip }
            } else {
                process.lanes.add(.succeeded)
                process.unpublished.append(self.now)
                self.good.append(self.now)
            }
        }
        return nil
    }

    private mutating func fail(_ process: Process) -> Int64? {
        self.bad.append(self.now)
        process.unpublished = []
        self.counter.count(.failed, by: process.worker, lanes: process.lanes) { [uptime] in uptime }
        process.knownBad = self.counter.bad
        if process.check?.applyFailure() ?? false { return nil }
        return self.ask(process)
    }

    private mutating func ask(_ process: Process) -> Int64? {
        let bad = self.counter.bad
        let good = self.counter.goodEver
        let calls = self.counter.sums(at: self.uptime)
        guard self.rules.rate(reachedBy: calls) != nil else {
            process.check = nil
            return nil
        }
        if self.plant == .decidesAtOnce { return self.now }
        self.asked += 1
        let users = Set(self.processes.filter { $0.isAlive && $0 !== process }.map(\.worker))
        let question = RateQuestion(
            number: self.asked, asker: process.worker, bit: 1, users: users, asked: self.instant,
            patience: RateQuestion.patience(period: .microseconds(self.period)))
        process.kept = (calls, good, bad, self.now)
        if process.check?.applyAsked(question) == nil { process.check = RateCheck(question) }
        return nil
    }

    private mutating func decide(_ process: Process) -> Int64? {
        guard var check = process.check, let kept = process.kept else { return nil }
        let living = Set(self.processes.filter(\.isAlive).map(\.worker))
        let own = self.plant == .silentAsker ? UInt64.max >> 1 : process.answered
        let seats = self.seats.compactMap(\.self)
        let step = check.step({ $0.missing(seats, own: own, isAlive: living.contains) }, at: self.instant)
        process.check = check
        switch step {
        case .wait: return nil
        case .askAgain: return self.ask(process)
        case .decide(let missing):
            var counted = kept.calls.with(good: self.counter.goodEver, since: kept.good)
            if self.plant == .windowOfNow, let bad = kept.calls.failed?.bad {
                let good = self.counter.sums(at: self.uptime).failed?.good ?? 0
                counted = Circuit.WindowCounts(failed: WindowCount(calls: bad + good, bad: bad))
            }
            // The promise leaves out a decision without the answers of all.
            if missing == 0, self.rules.rate(reachedBy: counted) != nil { return kept.at }
            let goesOn = check.applyNotReached(hasFailures: self.counter.bad != kept.bad, at: self.instant)
            process.check = goesOn ? check : nil
            return nil
        }
    }

    // MARK: - Publishing and answering

    private mutating func publish(_ process: Process) {
        if process.nextPublish <= self.now { process.nextPublish = self.now + self.period }
        let asked = self.asked
        if process.moving != nil {
            // The lanes are empty, or have only what has come since.
            guard self.plant == .answerWhileMoving else { return }
        } else {
            self.counter.publish(process.lanes) { [uptime] in uptime }
            process.unpublished = []
        }
        process.answered = asked
        if let place = process.place, let seat = self.seats[place], seat.worker == process.worker {
            self.seats[place]?.answered = asked
        }
        // The failures of others, and enough calls by now, are looked at by another thread, a little later.
        if process.knownBad != self.counter.bad, process.check == nil, process.asksAt == nil {
            process.knownBad = self.counter.bad
            process.asksAt = self.now + Int64(self.random.number(in: 0...40)) * 1_000
        }
    }

    private mutating func sit(_ process: Process) {
        let free = self.seats.firstIndex { seat in
            guard let seat else { return true }
            return !self.processes.contains { $0.isAlive && $0.worker == seat.worker }
        }
        let place = free ?? self.seats.count
        if free == nil { self.seats.append(nil) }
        let answered = self.plant == .seatUsedAgain ? self.asked : self.asked &- 1
        self.seats[place] = Seats.Taken(worker: process.worker, answered: answered, mask: 1)
        process.place = place
        process.answered = answered
        process.nextPublish = self.now + Int64(self.random.number(in: 0...Int(self.period)))
    }

    private mutating func endMove(_ process: Process, _ count: UInt64, _ since: Int64) {
        self.counter.addToWindows(good: count, inGeneration: 1, at: self.uptime)
        process.moving = nil
        process.unpublished.removeAll { $0 < since }
    }

    /// Now and then a process behaves in another way: it is idle, calls often or seldom, fails or does not; it is
    /// stopped, or killed and another one started; one of its threads stops while it moves counts.
    private mutating func change(_ process: Process) {
        switch self.random.number(in: 0...4_000) {
        case 0...1: process.stoppedUntil = self.now + Int64(self.random.number(in: 10...900)) * 1_000
        case 2:
            // It takes along what it has not published.
            process.isAlive = false
            self.lost += process.unpublished
            self.startProcess()
            return
        case 3...40 where process.moving == nil:
            let counts = process.lanes.drain()
            process.moving = (counts.succeeded, self.now, self.now + Int64(self.random.number(in: 1...20)) * 1_000)
        default: break
        }
        guard process.until <= self.now else { return }
        process.until = self.now + Int64(Double(self.window) * (0.05 + self.chance() * 0.95))
        process.nextCall = self.now
        if self.isNear {
            process.pause = self.window / [400, 1_000, 4_000][self.random.number(in: 0...2)]
            process.failing = min(1, self.share * [0, 0.9, 1, 1.1, 2][self.random.number(in: 0...4)])
            return
        }
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

    /// Whether the rate was not reached at an instant, though the window is taken as a tick longer for failures and
    /// shorter for successes: no success that had ended by then may be missing, but for those of killed processes.
    private func isEarly(_ time: Int64) -> Bool {
        let edge = self.tick + 1_000
        let bad = self.count(self.bad, from: time - self.window - edge, to: time)
        let start = time - self.window + edge
        let good =
            self.count(self.good, from: start, to: time - 1_000) - self.count(self.lost.sorted(), from: start, to: time)
        return Double(bad) < self.share * Double(bad + good)
            || bad + self.count(self.good, from: time - self.window - 20 * edge, to: time) < self.minimum
    }

    /// Whether a call failed so long ago that even a stopped worker was no longer waited for, with which the rate was
    /// reached, though the window is taken as shorter for failures, and as longer for successes and until now.
    private func hadToTrip() -> Bool {
        let wait = 2_500_000 + 4 * self.period
        let time = self.now - wait
        guard self.count(self.bad, from: time, to: time) > 0 else { return false }
        let edge = self.tick + wait
        let bad = self.count(self.bad, from: time - self.window + edge, to: time)
        let good = self.count(self.good, from: time - self.window - edge, to: self.now)
        let least = self.count(self.good, from: time - self.window + edge, to: time - 1_000_000)
        return bad + least >= self.minimum && Double(bad) >= self.share * Double(bad + good)
    }
}
