import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What goes on beside the callers of one history: time passes, processes die and stop, operators speak, the file goes.
struct HistoryChaos {
    /// A machine that is busy with other things is no violation.
    private static let patience = Duration.hangLimit

    private let era: HistoryEra
    private let phase: Int64
    private var random: SeededRandom
    private(set) var deaths: [HistoryReading.Death] = []
    private(set) var words: [HistoryOperators.Word] = []
    private(set) var times: [Int64]
    let begin = CallLog.now
    /// When the file went away, if it did.
    private(set) var lossBegin: Int64?
    /// Each lane's number of records before.
    let counts: [Int: Int]

    private var plan: HistoryPlan { self.era.plan }
    private var report: Report { self.era.report }
    private var uptime: Int64 { self.era.clock?.uptime.saturatingMicroseconds ?? 0 }

    init(_ era: HistoryEra, _ phase: Int64, seed: UInt64) {
        self.era = era
        self.phase = phase
        self.random = SeededRandom(seed: seed)
        self.times = [era.clock?.uptime.saturatingMicroseconds ?? 0]
        self.counts = era.logs.mapValues(\.count)
    }

    mutating func run() async throws {
        let losesFile = self.chance(6)
        let kills = [0, 0, 1, 2].randomElement(using: &self.random) ?? 0
        var left = (kills: kills, stops: self.number(0...2), steps: self.number(0...6), file: losesFile)
        let operators = losesFile ? nil : self.startOperators()
        self.plan.phase = self.phase
        let deadline = ContinuousClock.now + Self.patience
        while !self.isOver {
            guard ContinuousClock.now < deadline else {
                self.report.violated("the callers of history \(self.phase) don't come to rest")
                break
            }
            try await Task.sleep(for: .microseconds(self.number(0...2_000)))
            switch self.number(0...9) {
            case 0 where left.kills > 0:
                left.kills -= 1
                try await self.kill()
            case 1 where left.stops > 0:
                left.stops -= 1
                try await self.stop()
            case 2...5 where left.steps > 0 && self.era.clock != nil:
                left.steps -= 1
                self.letTimePass()
            case 6 where left.file:
                left.file = false
                try await self.loseFile()
            default: break
            }
        }
        self.words = try await operators?.value ?? []
        self.plan.phase = -self.phase
    }

    private var isOver: Bool { self.era.lanes.allSatisfy { self.plan.isResting($0, in: self.phase) } }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.random) }

    private mutating func chance(_ of: Int) -> Bool { self.number(1...of) == 1 }

    // MARK: - What happens

    private mutating func letTimePass() {
        guard let clock = self.era.clock else { return }
        let steps: [Int64] = [1_000_000, 4_999_999, 10_000_000, 10_000_001, 20_000_000, 30_000_000]
        self.times.append(clock.tick(steps.randomElement(using: &self.random) ?? 1_000_000))
        self.report.add(1, "steps of the clock")
    }

    private mutating func kill() async throws {
        let lane = self.era.lanes.randomElement(using: &self.random) ?? 0
        let process = lane / 2
        let begin = CallLog.now
        await self.era.processes[process]?.die()
        let counts = self.era.logs.filter { $0.key / 2 == process }.mapValues(\.count)
        self.deaths.append(
            .init(process: process, begin: begin, end: CallLog.now, clock: self.uptime, counts: counts))
        try self.era.start(process)
        self.report.add(1, "kills")
    }

    private mutating func stop() async throws {
        let process = self.era.processes[(self.era.lanes.randomElement(using: &self.random) ?? 0) / 2]
        process?.stop()
        let time = self.number(100...20_000)
        if self.chance(2) { self.letTimePass() }
        try await Task.sleep(for: .microseconds(time))
        process?.goOn()
        self.report.add(1, "stops")
    }

    /// The directory, or the database alone, goes away and comes back.
    private mutating func loseFile() async throws {
        let path = self.chance(2) ? self.plan.home : self.plan.store
        self.lossBegin = CallLog.now
        guard unsafe rename(path, path + ".away") == 0 else { throw SystemError("move \(path)") }
        try await Task.sleep(for: .microseconds(self.number(100...40_000)))
        guard unsafe rename(path + ".away", path) == 0 else { throw SystemError("move \(path) back") }
        self.report.add(1, "losses of the file")
    }

    private mutating func startOperators() -> Task<[HistoryOperators.Word], any Error>? {
        guard let operators = self.era.operators else { return nil }
        let (phase, count, seed) = (self.phase, self.number(0...3), self.random.next())
        let (plan, lanes) = (self.plan, self.era.lanes)
        let report = self.report
        return Task.detached {
            var random = SeededRandom(seed: seed)
            var words: [HistoryOperators.Word] = []
            while plan.phase != phase { try await Task.sleep(for: .microseconds(100)) }
            for _ in 0..<count where !lanes.allSatisfy({ plan.isResting($0, in: phase) }) {
                try await Task.sleep(for: .microseconds(Int.random(in: 0...5_000, using: &random)))
                words.append(try await operators.speak(in: phase, &random))
                report.add(1, plan.isSystemClock ? "words of the tool" : "words of Python")
            }
            return words
        }
    }
}
