import BreakerTestSupport
import Synchronization
import Testing

@testable import BreakerStore

/// The ring of ticks: what is in a window, what a transition makes of it, and what damage does.
@Suite(.timeLimit(.minutes(10))) struct RingTests {
    /// A ring in memory, with a clock and a window generation that are turned by hand.
    private final class Bench: Sendable {
        let window: Int64
        let ticks: WindowTicks
        private let cells = PrivateCells(words: Ring.words)
        let ring: Ring
        private let time = Atomic<Int64>(1_000_000_000)
        private let inForce = Atomic<Int64>(1)
        private let isInForce = Atomic<Bool>(true)

        var now: Int64 {
            get { self.time.load(ordering: .relaxed) }
            set { self.time.store(newValue, ordering: .relaxed) }
        }
        var uptime: Uptime { Uptime(microseconds: self.now) }
        var windowGeneration: Int64 {
            get { self.inForce.load(ordering: .relaxed) }
            set { self.inForce.store(newValue, ordering: .relaxed) }
        }
        /// What the file says.
        var isCurrent: Bool {
            get { self.isInForce.load(ordering: .relaxed) }
            set { self.isInForce.store(newValue, ordering: .relaxed) }
        }

        init(window: Int64 = 16_000_000) {
            self.window = window
            self.ticks = WindowTicks(window: window)
            self.ring = Ring(words: self.cells.words(from: 0), ticks: self.ticks)
        }

        func fail(_ count: Int = 1) {
            for _ in 0..<count where !self.ring.addBad(at: self.tick) {
                if self.mends() { _ = self.ring.addBad(at: self.tick) }
            }
        }

        var tick: UInt64 { self.ticks.tick(at: self.uptime, inGeneration: WindowGeneration(self.windowGeneration)) }
        func mends() -> Bool { self.ring.clearCorruptFutureTicks(currentTick: { self.isCurrent ? self.tick : nil }) }
        func succeed(_ count: UInt64) { self.ring.addGood(count, at: self.tick) }
        func pass(_ ticks: Int64) { self.now += ticks * self.ticks.length }

        var sums: WindowCount {
            let sums = self.ring.sums(at: self.tick)
            return sums.hasFutureTicks && self.mends() ? self.ring.sums(at: self.tick).calls : sums.calls
        }
        var bad: Int64 { self.sums.bad }
        var good: Int64 { self.sums.good }

        /// Failing ends in each tick of a window.
        func fill() {
            for _ in 0..<20 {
                self.fail(10)
                self.pass(1)
            }
        }
    }

    /// From the shortest to a week.
    static let windows: [Int64] = [1, 10_000, 10_001, 100_000, 160_000, 1_000_000, 86_400_000_000, 604_800_000_000]

    @Test(arguments: Self.windows) func anEndCountsForAWindowAndATickAtMost(window: Int64) {
        let ticks = WindowTicks(window: window)
        #expect(ticks.length >= 10_000 && ticks.length * ticks.count >= window)
        #expect(ticks.length * (ticks.count - 1) < window && ticks.count <= 16)
        let bench = Bench(window: window)
        bench.fail(7)
        bench.succeed(50)
        bench.now += ticks.length * ticks.count
        #expect(bench.bad == 7 && bench.good == 50)
        bench.now += bench.ticks.length
        #expect(bench.bad == 0 && bench.good == 0)
        bench.fail(2)
        #expect(bench.bad == 2)
    }

    @Test func aRingThatSleptIsEmptyAndCounts() {
        let bench = Bench()
        for ticks in [17, 18, 34, 1_000, 1 << 26, 1 << 35] as [Int64] {
            bench.fail(5)
            bench.succeed(5)
            bench.pass(ticks)
            #expect(bench.sums.calls == 0, "\(ticks) ticks")
            bench.fail()
            #expect(bench.bad == 1)
            bench.pass(17)
        }
    }

    /// Time stands still, and the circuit trips and recovers a thousand times.
    @Test func eachTransitionForgetsAndCountsExactly() {
        let bench = Bench()
        for _ in 0..<1_000 {
            bench.fail(3)
            bench.succeed(4)
            #expect(bench.bad == 3 && bench.good == 4)
            bench.windowGeneration += 1
            #expect(bench.sums.calls == 0)
        }
    }

    /// Two processes read their clocks a tick apart: no end of the last window generation counts for either of them,
    /// and each sees the other's.
    @Test func clocksATickApartAgree() {
        let bench = Bench()
        for _ in 0..<100 {
            bench.fail(3)
            bench.windowGeneration += 1
            bench.pass(-1)
            #expect(bench.bad == 0)
            bench.fail(2)
            bench.pass(1)
            #expect(bench.bad == 2)
            bench.fail()
            bench.pass(-1)
            #expect(bench.bad == 3)
            bench.pass(2)
        }
    }

    /// A thread was stopped after it had read its clock: the newer word stays.
    @Test func aLateAdderOfAnOldGenerationChangesNothing() {
        let bench = Bench()
        bench.fail(4)
        let old = bench.tick
        for number in 1...400 as ClosedRange<Int64> {
            bench.windowGeneration += 1
            bench.fail(2)
            _ = bench.ring.addBad(at: old)
            bench.ring.addGood(9, at: old)
            #expect(bench.bad == 2 && bench.good == 0)
            bench.pass(number % 3)
        }
    }

    @Test func ticksRunOver() {
        let bench = Bench()
        bench.windowGeneration = (1 << 36) / 18 - 3
        for _ in 0..<6 {
            bench.fill()
            #expect(bench.bad == 160)
            bench.windowGeneration += 1
            #expect(bench.bad == 0)
            bench.fail(3)
            #expect(bench.bad == 3)
            bench.windowGeneration += 1
        }
    }

    @Test func aFullCountStaysFull() {
        let bench = Bench()
        bench.succeed(TickWord.greatestNumber - 1)
        bench.fail(2)
        for count in [1, 5, .max] as [UInt64] {
            bench.succeed(count)
            #expect(bench.good == Int64(TickWord.greatestNumber) && bench.bad == 2)
        }
        bench.pass(1)
        bench.succeed(3)
        #expect(bench.good == Int64(TickWord.greatestNumber) + 3)
    }

    /// Threads add to one word at once, while ticks end.
    @Test func noAdditionIsLost() async {
        let bench = Bench(window: 86_400_000_000)
        let ring = bench.ring
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for call in 0..<20_000 {
                        let tick = ring.ticks.tick(at: call < 10_000 ? 0 : 5_400_000_000, inGeneration: 1)
                        while !ring.addBad(at: tick) {}
                        ring.addGood(2, at: tick)
                    }
                }
            }
        }
        bench.now = 5_400_000_000
        #expect(bench.bad == 80_000 && bench.good == 160_000 && ring.goodEver == 160_000)
    }

    /// Another process replaces the word between the reading and the addition.
    @Test func anAdditionToAWordThatChangesIsRepeated() async {
        await #expect(processExitsWith: .success) {
            let bench = Bench()
            Hook.install { name in
                guard name == "ring.adding" else { return }
                Hook.install(nil)
                bench.fail(2)
            }
            bench.fail()
            #expect(bench.bad == 3)
        }
    }

    /// A tick ends while a thread sums up, and another process uses the place of the oldest word again.
    @Test func sumsThatATickInterruptsAreReadAgain() async {
        await #expect(processExitsWith: .success) {
            let bench = Bench()
            let counts = CircuitCounts()
            counts.update(
                incarnation: 7, Rules(.init(name: "a", trip: .failureRate(1, minimumCalls: 99, within: .seconds(16)))),
                epoch: 5)
            let counters = counts.makeCellPair(on: nil, making: .alone)
            let counter = try #require(counters.own)
            func add(good: UInt64, bad: Int) {
                // The first window generation of this process.
                counter.addToWindows(good: good, inGeneration: 1, at: bench.uptime)
                for _ in 0..<bad { _ = counter.addToWindows(.failed, by: 1, inGeneration: 1, at: bench.uptime) }
            }
            for _ in 0..<17 {
                add(good: 5, bad: 1)
                bench.pass(1)
            }
            bench.pass(-1)
            let goesOn = Atomic<Bool>(true)
            Hook.install { name in
                guard name == "ring.summing", goesOn.exchange(false, ordering: .relaxed) else { return }
                bench.pass(1)
                counter.addToWindows(good: 1, inGeneration: 1, at: bench.uptime)
            }
            // The window of the new tick: its own call, and those of sixteen ticks before.
            let sums = counts.sums(inEpoch: 5, of: counter) { bench.uptime }
            #expect(sums.failed == WindowCount(calls: 97, bad: 16))
        }
    }

    /// Another process publishes good calls and counts a bad one while a thread sums up: a bad one is missing, if any.
    @Test func failuresAreSummedUpFirst() async {
        await #expect(processExitsWith: .success) {
            let bench = Bench()
            bench.fail(2)
            Hook.install { name in
                guard name == "ring.summing" else { return }
                Hook.install(nil)
                bench.succeed(100)
                bench.fail()
            }
            #expect(bench.sums == WindowCount(calls: 102, bad: 2))
            #expect(bench.sums == WindowCount(calls: 103, bad: 3))
        }
    }

    /// Good calls are in the window before they are in the number of all: who reads that number first, and the window
    /// then, misses none in both.
    @Test func goodCallsAreNeverMissedInBoth() async {
        await #expect(processExitsWith: .success) {
            let bench = Bench()
            bench.fail(10)
            let before = Atomic<Int64>(-1)
            Hook.install { name in
                guard name == "ring.adding" else { return }
                Hook.install(nil)
                before.store(bench.ring.goodEver, ordering: .relaxed)
                #expect(bench.good == 0)
            }
            bench.succeed(100)
            #expect(bench.ring.goodEver - before.load(ordering: .relaxed) == 100)
        }
    }

    @Test func sumsOfTicksThatEndTooFastDecideNothing() {
        let counts = CircuitCounts()
        counts.update(
            incarnation: 7, Rules(.init(name: "a", trip: .failureRate(1, minimumCalls: 1, within: .seconds(16)))),
            epoch: 5)
        counts.fail()
        let bench = Bench()
        let sums = counts.sums(
            inEpoch: 5, of: counts.makeCellPair(on: nil, making: .alone).own ?? CircuitCells(privately: .init())
        ) {
            bench.pass(1)
            return bench.uptime
        }
        #expect(sums == Circuit.WindowCounts())
    }

    // MARK: - Damage

    /// An older copy of the file, whose circuit has had fewer transitions; or a clock that was ahead.
    @Test(arguments: [(500, 0), (0, 3_600), (1, 0)] as [(Int64, Int64)])
    func wordsOfTheFutureAreBegunAgain(stretches: Int64, ticks: Int64) {
        let bench = Bench()
        bench.windowGeneration += stretches
        bench.pass(ticks)
        bench.fill()
        bench.succeed(50)
        bench.windowGeneration -= stretches
        bench.pass(-ticks - 20)
        bench.fail(10)
        bench.succeed(30)
        #expect(bench.bad == 10 && bench.good == 30)
        bench.pass(1)
        bench.fail(10)
        #expect(bench.bad == 20 && bench.good == 30)
    }

    /// What looks like the future is the circuit's next window generation, which this thread does not know yet.
    @Test func wordsOfALaterGenerationStay() {
        let bench = Bench()
        bench.windowGeneration = 7
        bench.fill()
        bench.fail(10)
        let known = bench.bad
        bench.windowGeneration = 6
        bench.isCurrent = false
        bench.fail(100)
        _ = bench.sums
        bench.windowGeneration = 7
        #expect(bench.bad == known)
    }

    /// Another process has cleared the word already, and counts: the thread that judged the old one leaves the new one.
    @Test func aWordThatChangesWhileItIsJudgedStays() {
        let bench = Bench()
        bench.windowGeneration = 500
        bench.fail()
        let place = 1 + Int(bench.tick % 17)
        bench.windowGeneration = 3
        let isAny = bench.ring.clearCorruptFutureTicks {
            bench.ring.words[place] = TickWord(tick: bench.tick, number: 5).raw
            return bench.tick
        }
        #expect(!isAny && bench.bad == 5)
    }

    @Test func anyWordsAreNoTrap() {
        var random = SplitMix64(seed: 37)
        for round in 0..<2_000 {
            let bench = Bench(window: Self.windows[round % Self.windows.count])
            for word in 0..<Ring.words { bench.ring.words[word] = round % 3 == 0 ? .max : random.next() }
            bench.now = [Int64.min, -1, 0, .max, Int64(bitPattern: random.next())][round % 5]
            bench.windowGeneration = [Int64.min, -1, 0, .max, 7][round % 4]
            bench.fail()
            bench.succeed(.max)
            _ = bench.sums
            #expect(bench.bad >= 0)
        }
    }

    // MARK: - Reporters

    private static func reporters(_ window: Int64 = 16_000_000) -> (PrivateCells, ReporterCells) {
        let cells = PrivateCells(words: ReporterCells.words)
        return (cells, ReporterCells(words: cells.words(from: 0), ticks: WindowTicks(window: window)))
    }

    @Test func keepsTheLatestSixteenWorkers() {
        let (cells, reporters) = Self.reporters(160_000_000)
        for worker in 1...20 as ClosedRange<Int64> { reporters.record(WorkerID(worker), at: 100 + UInt64(worker) / 2) }
        #expect(reporters.workers(at: 110) == Set((5...20).map { WorkerID($0) }))
        reporters.record(7, at: 118)
        #expect(reporters.workers(at: 118).contains(7) && reporters.workers(at: 118).count == 16)
        #expect(reporters.workers(at: 127) == [7], "the others' ends are out of the window")
        #expect(reporters.workers(at: 118 + 18).isEmpty, "the circuit's next windowGeneration")
        // A stamp of the future is damage: its cell is taken first.
        reporters.words[1] = TickWord(tick: 5_000, number: TickWord(raw: reporters.words[1]).number).raw
        reporters.record(99, at: 118)
        #expect(reporters.words[0] == 99)
        withExtendedLifetime(cells) {}
    }

    /// A worker took over a cell and was killed, or is just about it.
    @Test func aCellThatIsBeingTakenOverCountsForNobody() {
        let (cells, reporters) = Self.reporters()
        reporters.record(1, at: 100)
        reporters.words[0] = 2
        #expect(reporters.workers(at: 100).isEmpty)
        reporters.record(2, at: 100)
        #expect(reporters.workers(at: 100) == [2])
        withExtendedLifetime(cells) {}
    }

    @Test func aWorkerInTwoCellsIsOne() {
        let (cells, reporters) = Self.reporters()
        reporters.record(1, at: 100)
        reporters.record(2, at: 101)
        (reporters.words[4], reporters.words[5]) = (reporters.words[0], reporters.words[1])
        #expect(reporters.workers(at: 101) == [1, 2])
        withExtendedLifetime(cells) {}
    }
}
