import Testing

@testable import BreakerStore

/// The window's sums from looks, with a clock that the test moves.
@Suite struct LookRingTests {
    /// A circuit with a window of 16 s, whose tick is a second.
    private final class Bench {
        static let window: Int64 = 16_000_000
        static let tick = LookRing.tick(of: Bench.window)

        var now: Int64 = 1_000_000_000
        var epoch: Int64 = 5
        private let ringCells = PrivateCells(words: BoardKind.ring.words)
        private let blockCells = PrivateCells(words: BoardKind.block.words)
        let block: CountBlock
        let ring: LookRing

        init(_ subject: LookRing.Subject = .failed) {
            self.block = CountBlock(words: self.blockCells.words(from: 0))
            self.ring = LookRing(words: self.ringCells.words(from: 0), block: self.block, subject: subject)
        }

        func look(_ window: Int64 = Bench.window) {
            self.ring.lead(self.epoch, window)
            self.ring.look(epoch: self.epoch, window: window) { self.now }
        }

        func succeed(_ count: UInt64) { self.block.add(count, to: .succeeded) }

        func fail(_ count: Int = 1, worker: Int64 = 1) {
            for _ in 0..<count {
                let uptime = self.ring.lookBeforeEnd(epoch: self.epoch, window: Self.window) { self.now }
                self.block.add(1, to: .failed)
                self.ring.note(reporter: worker, at: uptime)
            }
        }

        func sums(_ window: Int64 = Bench.window) -> WindowSums? {
            self.ring.sums(at: self.now, epoch: self.epoch, window: window)
        }

        /// Lets so many ticks pass, in each of which the store's thread looks.
        func pass(_ ticks: Int, _ body: () -> Void = {}) {
            for _ in 0..<ticks {
                self.now += Self.tick
                body()
                self.look()
            }
        }

        /// How many looks have been written.
        var written: UInt64 { self.ring.words[LookRing.Place.number] }

        func look(at slot: Int) -> Look? {
            Look(self.ring.words, at: LookRing.Place.looks + slot * Look.words)
        }
    }

    /// The last process may end before it has looked at what it added last.
    @Test(arguments: [2, 3, 30]) func whatNobodyLookedAtIsOldAfterTwoWindows(windows: Int64) {
        let bench = Bench()
        bench.fail()
        bench.pass(3) { bench.succeed(10) }
        bench.succeed(100)
        bench.now += windows * Bench.window
        // Whoever only reads sees it, too.
        #expect(bench.sums().map { [$0.bad, $0.good] } == [0, 0])
        bench.fail()
        #expect(bench.sums().map { [$0.bad, $0.good] } == [1, 0])
        bench.pass(1) { bench.succeed(7) }
        #expect(bench.sums().map { [$0.bad, $0.good] } == [1, 7])
    }

    /// Nobody knows when it was added: it counts as if that were now.
    @Test func whatNobodyLookedAtMayBeYoungBeforeThat() {
        let bench = Bench()
        bench.fail()
        bench.succeed(100)
        bench.now += 2 * Bench.window - 1
        bench.fail()
        #expect(bench.sums().map { [$0.bad, $0.good] } == [1, 100])
    }

    @Test func decidesNothingBeforeAnybodyLooked() {
        let bench = Bench()
        #expect(bench.sums() == nil)
        bench.block.add(5, to: .failed)
        #expect(bench.sums() == nil)
    }

    /// The first failure of a process that dies at once is counted: the look comes before it.
    @Test func countsTheFirstFailure() {
        let bench = Bench()
        bench.fail()
        #expect(bench.sums()?.bad == 1)
        bench.fail(19)
        #expect(bench.sums()?.bad == 20)
    }

    /// Somebody claimed the look, and was killed before it was written.
    @Test func aDeadClaimCostsNoFailure() {
        let bench = Bench()
        bench.ring.words[LookRing.Place.claim] = UInt64(bench.now)
        bench.fail(20)
        #expect(bench.sums()?.bad == 20)
    }

    @Test func failuresLeaveTheWindow() {
        let bench = Bench()
        bench.look()
        bench.fail(3)
        bench.pass(15)
        #expect(bench.sums()?.bad == 3)
        bench.pass(2)
        #expect(bench.sums()?.bad == 0)
    }

    /// Good calls count to the end of the gap that they ended in, bad ones to its beginning.
    @Test func neverTooEarlyInAGap() {
        let bench = Bench()
        bench.look()
        bench.pass(1)
        bench.succeed(100)
        bench.block.add(10, to: .failed)
        bench.pass(1)
        // The window begins in the middle of the gap in which all of that ended.
        bench.now += 15 * Bench.tick + Bench.tick / 2
        let sums = bench.sums()
        #expect(sums?.bad == 0 && sums?.good == 100)
    }

    @Test func anotherEpochBeginsAnew() {
        let bench = Bench()
        bench.fail(10)
        bench.succeed(5)
        bench.epoch = 6
        #expect(bench.sums() == nil)
        bench.fail()
        #expect(bench.sums()?.bad == 1 && bench.sums()?.good == 0)
        #expect(bench.sums()?.since == bench.now)
        // Somebody stopped goes on, and looks for the stretch that is over.
        bench.now += Bench.tick
        bench.ring.look(epoch: 5, window: Bench.window) { bench.now }
        bench.fail()
        #expect(bench.sums()?.bad == 2)
    }

    /// A process without calls does not read the file: it knows the epoch before a recovery, or a window of before.
    @Test(arguments: [5, 6] as [Int64], [1, 16] as [Int64])
    func whoOnlyLooksTakesNoPlaceOfThoseWhoCount(epoch: Int64, part: Int64) {
        let window = Bench.window / part
        let bench = Bench()
        bench.fail()
        bench.epoch = 6
        for tick in 1...100 {
            for _ in 0..<16 {
                bench.now += Bench.tick / 16
                bench.ring.look(epoch: epoch, window: window) { bench.now }
            }
            bench.succeed(90)
            bench.fail(10)
            guard tick > 40 else { continue }
            let sums = bench.sums()
            #expect((150...180).contains(sums?.bad ?? 0), "\(tick): \(sums.debugDescription)")
            #expect((1_440...1_620).contains(sums?.good ?? 0), "\(tick): \(sums.debugDescription)")
        }
    }

    @Test func idleForAWindowAndATickThenFailures() {
        let bench = Bench()
        bench.pass(20) { bench.succeed(10_000) }
        bench.pass(17)
        let written = bench.written
        bench.pass(50)
        #expect(bench.written == written, "nothing has changed for a window")
        bench.fail(10)
        #expect(bench.sums()?.bad == 10 && bench.sums()?.good == 0)
    }

    /// A worker stopped for ten windows, with failures of the time before.
    @Test func oldFailuresDoNotCountAfterAStop() {
        let bench = Bench()
        bench.look()
        bench.fail(100)
        bench.now += 10 * Bench.window
        bench.fail()
        #expect(bench.sums()?.bad == 1)
    }

    /// The ring is written over and over under steady traffic.
    @Test func theRingHasAWindow() {
        let bench = Bench()
        bench.look()
        for _ in 0..<100 {
            bench.pass(1) {
                bench.succeed(90)
                bench.fail(10)
            }
            guard bench.now > 1_000_000_000 + 2 * Bench.window else { continue }
            let sums = bench.sums()
            #expect((150...180).contains(sums?.bad ?? 0))
            #expect((1_440...1_620).contains(sums?.good ?? 0))
        }
    }

    @Test func aChangedWindowUsesTheSameLooks() {
        let bench = Bench()
        bench.pass(20) {
            bench.succeed(100)
            bench.fail(1)
        }
        // A quarter of the window, and back.
        let short = bench.sums(Bench.window / 4)
        #expect((3...5).contains(short?.bad ?? 0) && (400...500).contains(short?.good ?? 0))
        for _ in 0..<16 {
            bench.now += Bench.tick / 4
            bench.succeed(25)
            bench.look(Bench.window / 4)
        }
        // The looks reach back 17 of the short ticks: that is what the long window has.
        let long = bench.sums()
        #expect((400...600).contains(long?.good ?? 0))
        #expect(long.map { $0.since > bench.now - Bench.window } == true)
    }

    @Test func anUptimeThatBeganAnewIsNoEnd() {
        let bench = Bench()
        bench.pass(20) { bench.succeed(10) }
        bench.now = 5_000_000
        #expect(bench.sums() == nil, "looks of the future tell nothing")
        bench.fail(4)
        #expect(bench.sums()?.bad == 4)
        bench.pass(3) { bench.succeed(10) }
        #expect(bench.sums()?.bad == 4 && bench.sums()?.good == 30)
    }

    @Test func tornLooksAreLeftOut() {
        let bench = Bench()
        bench.look()
        bench.fail(3)
        #expect(bench.look(at: 0) != nil)
        // A writer was killed between two words: the number of bad calls is of another look.
        bench.ring.words[LookRing.Place.looks + 2] &+= 1
        #expect(bench.look(at: 0) == nil)
        #expect(bench.sums() == nil)
    }

    @Test func whatWasNeverWrittenIsNoLook() {
        let bench = Bench()
        for slot in 0..<LookRing.count { #expect(bench.look(at: slot) == nil) }
    }

    /// The thread was stopped between the clock and the totals.
    @Test func aLookThatTookTooLongIsMadeAgain() {
        let bench = Bench()
        var reads = 0
        bench.ring.lead(bench.epoch, Bench.window)
        bench.ring.look(epoch: bench.epoch, window: Bench.window) {
            reads += 1
            // The second reading is the look's, the third is what tells how long it took.
            if reads == 3 {
                bench.succeed(1_000)
                bench.now += Bench.window
            }
            return bench.now
        }
        #expect(bench.written == 1)
        #expect(bench.look(at: 0)?.uptime == bench.now)
    }

    @Test func totalsThatFellDecideNothing() {
        let bench = Bench()
        bench.look()
        bench.fail(3)
        bench.pass(17)
        bench.block.words[CountBlock.Word.failed.rawValue] = 1
        #expect(bench.sums() == nil)
    }

    @Test func hugeTotalsAreNoTrap() {
        let bench = Bench()
        for (bad, good) in [(UInt64.max, UInt64.max), (1 << 63, 1 << 63), (UInt64(Int64.max), UInt64(Int64.max))] {
            bench.look()
            bench.block.words[CountBlock.Word.failed.rawValue] = bad
            bench.block.words[CountBlock.Word.succeeded.rawValue] = good
            bench.now = bench.now &+ Bench.tick
            bench.fail()
            if let sums = bench.sums() { #expect(sums.calls >= 0) }
        }
        for now in [Int64.min, -1, 0, .max] {
            bench.now = now
            bench.look()
            bench.fail()
            _ = bench.sums()
        }
    }

    @Test func slowOnesAreNotAmongTheGood() {
        let bench = Bench(.slow)
        bench.look()
        bench.block.add(3, to: .failed)
        bench.block.add(5, to: .succeeded)
        _ = bench.ring.lookBeforeEnd(epoch: bench.epoch, window: Bench.window) { bench.now }
        bench.block.add(4, to: .slow)
        #expect(bench.sums()?.bad == 4 && bench.sums()?.good == 4)
    }

    // MARK: - Reporters

    @Test func keepsTheLatestSixteenWorkers() {
        let bench = Bench()
        for worker in 1...20 {
            bench.now += 1
            bench.fail(worker: Int64(worker))
        }
        #expect(bench.ring.reporters(since: 0).map(\.worker).sorted() == Array(5...20))
        bench.now += 1
        bench.fail(2, worker: 7)
        let reporters = bench.ring.reporters(since: bench.now)
        #expect(reporters == [.init(worker: 7, uptime: bench.now)])
        #expect(bench.ring.reporters(since: 0).count == 16)
    }

    /// A worker took over a cell and was killed, or is just about it.
    @Test func aCellThatIsBeingTakenOverCountsForNobody() {
        let bench = Bench()
        bench.fail(worker: 1)
        bench.ring.words[LookRing.Place.reporters] = 2
        #expect(bench.ring.reporters(since: 0).isEmpty)
        bench.fail(worker: 2)
        #expect(bench.ring.reporters(since: 0) == [.init(worker: 2, uptime: bench.now)])
    }

    @Test func aWorkerInTwoCellsIsOne() {
        let bench = Bench()
        bench.fail(worker: 1)
        bench.now += 1
        bench.fail(worker: 2)
        let place = LookRing.Place.reporters
        bench.ring.words[place + 4] = bench.ring.words[place]
        bench.ring.words[place + 5] = bench.ring.words[place + 1]
        #expect(bench.ring.reporters(since: 0).map(\.worker) == [1, 2])
    }
}
