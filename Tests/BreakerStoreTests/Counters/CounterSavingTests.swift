import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What was counted comes into the file, whoever dies or fails meanwhile.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct CounterSavingTests {
    private static let rules = Rules(
        CircuitBreaker.Config(name: "a", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(16))))

    /// Both tell what they know; they don't take each other's word for news.
    @Test func aProcessThatMeasuresAndOneThatDoesNotSaveNothingTwice() throws {
        try BoardPlace.withBoard { place, board in
            let (measuring, other) = (CircuitCounts(), CircuitCounts())
            measuring.measureDurations()
            for counts in [measuring, other] {
                counts.update(incarnation: 7, Self.rules, epoch: 5)
                counts.fail(on: board)
            }
            measuring.durations.add(7)
            measuring.publish(clock: { 1_000_000 }, { measuring.makeCellPair(on: board, making: .alone) })
            let boards = [board, try place.open()]
            var tellings = 0
            for second: Int64 in 1...60 {
                let uptime = Uptime(microseconds: second * 6_000_000)
                for board in boards where board.acquireTurn(at: uptime, pause: 5_000_000) {
                    let counters = board.unsaved(from: 0, atMost: 1_000).counters
                    tellings += counters.count
                    board.setSaved(counters)
                }
            }
            // Totals and durations have a cell each.
            #expect(tellings == 2)
        }
    }

    /// A walk goes on behind the place where the last one stopped, so that no circuit waits for ever.
    @Test func aWalkOverTheBoardGoesOnWhereTheLastOneStopped() throws {
        try BoardPlace.withBoard { place, board in
            let incarnations = (1...700).map { Int64($0) }
            for incarnation in incarnations {
                try place.counter(board, incarnation, CountingRules()).addToTotals(.failed)
            }
            var (seen, start) = ([Int64](), 0)
            for _ in 0..<7 {
                let walk = board.unsaved(from: start, atMost: 100)
                seen += walk.counters.map(\.incarnation)
                start = walk.next ?? 0
                // Those that were told first change all the time.
                board.setSaved(walk.counters)
                for incarnation in incarnations.prefix(100) {
                    try place.counter(board, incarnation, CountingRules()).addToTotals(.failed)
                }
            }
            #expect(Set(seen).count == 700 && seen.count == 700)
        }
    }

    /// The circuit's incarnation was read after its calls were counted.
    @Test func whatWasCountedBeforeTheIncarnationWasKnownIsReported() {
        let counts = CircuitCounts()
        counts.update(incarnation: nil, Self.rules, epoch: 5)
        counts.fail()
        #expect(counts.unsavedOwn(by: 1) == nil)
        counts.update(incarnation: 7, Self.rules, epoch: 5)
        let tally = counts.unsavedOwn(by: 1)
        #expect(tally?.totals?.failed == 1 && tally?.incarnation == 7)
    }

    /// A circuit is forgotten while a thread makes counters for it, and another one gets its name: the call counts in
    /// the totals of the other.
    @Test func aCallDuringAForgetCountsInTheNextTotals() async {
        await #expect(processExitsWith: .success) {
            let counts = CircuitCounts()
            counts.update(incarnation: 7, Self.rules, epoch: 5)
            Hook.install { name in
                guard name == "cells.making" else { return }
                Hook.install(nil)
                counts.update(incarnation: 8, Self.rules, epoch: 6)
            }
            counts.fail()
            let tally = counts.unsavedOwn(by: 1)
            #expect(tally?.totals?.failed == 1 && tally?.incarnation == 8)
            counts.fail()
            #expect(counts.unsavedOwn(by: 1)?.totals?.failed == 2)
        }
    }

    /// Another thread learns the incarnation and counts, while this one makes counters for the circuit that nobody
    /// knew.
    @Test func callsBesideTheFirstReadAreKept() async {
        await #expect(processExitsWith: .success) {
            let counts = CircuitCounts()
            counts.update(incarnation: nil, Self.rules, epoch: 0)
            Hook.install { name in
                guard name == "cells.making" else { return }
                Hook.install(nil)
                counts.update(incarnation: 7, Self.rules, epoch: 5)
                for _ in 0..<3 { counts.fail() }
            }
            counts.fail()
            #expect(counts.unsavedOwn(by: 1)?.totals?.failed == 4)
        }
    }

    /// A batch along with another commit reads nothing: what waits for a read must not wait for longer because of it.
    @Test func commitsDoNotPutOffACircuitThatWasNeverRead() throws {
        let file = try StoreFile(resolving: try Workplace.here.store)
        let (circuits, clock) = (UsedCircuits(), ManualHostClock())
        let store = StoreClock(clock)
        let counting = StoreCounts(file, store, circuits)
        circuits.use(registering: ConfigBox(.init(name: "a"))).counts.fail()
        for _ in 0..<3 {
            clock.advance(by: .seconds(4))
            #expect(counting.beginSave(on: .otherCommit, by: 1, atMost: 100) { _ in false } == nil)
        }
        #expect(counting.isSaveDue(at: store.uptime))
    }

    /// The next circuit of a name must not have more durations than calls.
    @Test func durationsOfAForgottenCircuitAreDropped() {
        let counts = CircuitCounts()
        counts.measureDurations()
        counts.update(incarnation: 7, Self.rules, epoch: 5)
        counts.durations.add(7)
        let hadDurations = !counts.durations.isEmpty
        counts.update(incarnation: 8, Self.rules, epoch: 9)
        let hasDurations = !counts.durations.isEmpty
        #expect(hadDurations && !hasDurations)
    }

    /// Two batches at a time would add private counts to the file's numbers twice.
    @Test func noBatchBeginsBesideAnother() throws {
        let file = try StoreFile(resolving: try Workplace.here.store)
        let circuits = UsedCircuits()
        let counting = StoreCounts(file, StoreClock(SystemHostClock()), circuits)
        let counts = circuits.use(registering: ConfigBox(.init(name: "a"))).counts
        counts.update(incarnation: 7, .defaults, epoch: 5)
        counts.fail()
        let begin = { counting.beginSave(on: $0, by: 1, atMost: 1_000) { _ in true } }
        let batch = try #require(begin(.pauseIsOver))
        #expect(begin(.otherCommit) == nil && begin(.pauseIsOver) == nil)
        counting.cancelSave()
        let next = try #require(begin(.otherCommit))
        #expect(next.counters.map(\.totals) == batch.counters.map(\.totals))
        counting.setSaved(next)
        #expect(begin(.otherCommit) == nil)
    }

    /// Each read may wait for long.
    @Test func afterOneFailedReadNoOtherIsTried() throws {
        let file = try StoreFile(resolving: try Workplace.here.store)
        let circuits = UsedCircuits()
        let counting = StoreCounts(file, StoreClock(SystemHostClock()), circuits)
        for name in ["a", "b", "c"] {
            circuits.use(registering: ConfigBox(.init(name: name))).counts.lanes.add(.succeeded)
        }
        for isLast in [false, true] {
            var reads = 0
            _ = counting.beginSave(on: isLast ? .end : .pauseIsOver, by: 1, atMost: 1_000) { _ in
                reads += 1
                return false
            }
            #expect(reads == 1)
        }
    }

    /// The numbers of processes that are gone are told by one that does not use their circuit.
    @Test func whatIsLeftOnTheBoardIsReported() async throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let path = fixture.store.backend.file.path
        for name in ["left", "used"] { _ = try fixture.breaker(name) }
        let used = try fixture.breaker("used")
        await used.recordFailure(CallFailure())
        let board = try #require(core.counting.board)
        let incarnation = try #require(Foreign.number(path, "SELECT incarnation FROM circuit WHERE name = 'left'"))
        let id = try #require(Foreign.number(path, "SELECT id FROM circuit WHERE name = 'left'"))
        let dead = try CircuitCells(
            ofID: id, incarnation: incarnation, CountingRules(measuresDurations: true), on: board, making: .alone)
        dead.addToTotals(.failed)
        let durations = DurationLane()
        _ = durations.open()
        for _ in 0..<3 { durations.add(2_000) }
        dead.addToTotals(LaneCounts(), durations)
        core.saveCountersIfDue()
        let isTold = await eventually {
            fixture.clock.advance(by: .seconds(600))
            core.saveCountersIfDue()
            return Foreign.value(path, "SELECT sum(failed) FROM counters") == "2"
        }
        #expect(isTold)
        #expect(Foreign.value(path, "SELECT group_concat(count) FROM duration") == "3,6000")
    }

    /// A process was killed before it told anything; the next one makes no calls, and has other circuits.
    @Test(arguments: ["failures=1000 slow=1000", "rate=0.5 minimum=1000"])
    func theNextProcessSavesForAKilledOne(rules: String) async throws {
        let place = try Workplace.here
        let victim = try await place.openWorker()
        for name in ["users", "mail"] { try await victim.ask("breaker \(name) \(rules)") }
        try await victim.ask("fail users 3")
        try await victim.ask("fail mail 4")
        await victim.die()
        let next = try await place.openWorker()
        try await next.ask("breaker other failures=3")
        let isTold = await eventually {
            place.clock.advance(by: .seconds(600))
            return Foreign.value(place.store, "SELECT group_concat(failed) FROM counters") == "3,4"
        }
        #expect(isTold)
        #expect(await next.quit() == 0)
    }

    /// The file is locked for longer than the pause between two tellings: what waits to be told is not taken again.
    @Test func whatWaitsToBeReportedIsReportedOnce() async throws {
        let fixture = try StoreFixture(busyTimeout: .hangLimit)
        let core = try #require(fixture.core)
        unsafe mkdir(fixture.store.backend.file.board, 0o700)
        let breaker = try fixture.breaker(trip: .failures(100, within: .seconds(600)))
        await breaker.recordFailure()
        #expect(core.counting.isPrivate)
        core.saveCountersIfDue()
        let lock = try WriteLock(fixture.store)
        for _ in 0..<4 {
            fixture.clock.advance(by: .seconds(600))
            core.saveCountersIfDue()
        }
        try lock.release()
        let path = fixture.store.backend.file.path
        #expect(await eventually { Foreign.value(path, "SELECT sum(failed) FROM counters") != nil })
        // All that was posted before has been committed by then.
        try await core.commit(until: Deadline(after: .hangLimit)) { _ in }
        #expect(Foreign.value(path, "SELECT sum(failed) FROM counters") == "1")
    }

    /// Processes without a board are killed: the file does not grow with each of them, and keeps what they told.
    @Test func killedProcessesWithoutABoardLeaveOneRow() async throws {
        let place = try Workplace.here
        unsafe mkdir(place.store + "-board", 0o700)
        for round in 1...2 {
            let workers = try await place.openWorkers(2)
            try await workers.ask("breaker users failures=1000 slow=1000")
            try await workers.ask("fail users 3")
            let isTold = await eventually {
                place.clock.advance(by: .seconds(600))
                return Foreign.value(place.store, "SELECT sum(failed) FROM counters") == "\(round * 6)"
            }
            #expect(isTold)
            for worker in workers { await worker.die() }
        }
        let next = try await place.openWorker()
        #expect(Foreign.value(place.store, "SELECT group_concat(board) FROM counters") == "0")
        #expect(Foreign.value(place.store, "SELECT group_concat(DISTINCT board) FROM duration") == "0")
        try await next.ask("breaker users failures=1000")
        #expect(try await next.ask("totals users").number("failed") == 12)
    }

    /// Another process took the worker for dead, and has added its numbers to those of the dead: it goes on counting.
    @Test(arguments: [false, true]) func aWorkerTakenForDeadSavesNothingTwice(leavesAtOnce: Bool) async throws {
        let place = try Workplace.here
        unsafe mkdir(place.store + "-board", 0o700)
        let worker = try await place.openWorker()
        try await worker.ask("breaker users failures=1000 slow=1000")
        func isTold(_ failed: Int) async -> Bool {
            await eventually {
                place.clock.advance(by: .seconds(600))
                return Foreign.value(place.store, "SELECT sum(failed) FROM counters") == "\(failed)"
            }
        }
        try await worker.ask("fail users 3")
        #expect(await isTold(3))
        worker.stop()
        let id = try #require(Foreign.number(place.store, "SELECT id FROM worker"))
        do {
            let connection = try Connection(path: place.store, access: .readWrite)
            try connection.configureForSharing()
            try Database(connection).removeWorker(WorkerID(id), at: StoreTime(microseconds: 1))
        }
        #expect(Foreign.value(place.store, "SELECT group_concat(board) FROM counters") == "0")
        worker.goOn()
        try await worker.ask("fail users 4")
        if !leavesAtOnce { #expect(await isTold(7)) }
        try await worker.ask("fail users 5")
        #expect(await worker.quit() == 0)
        #expect(Foreign.value(place.store, "SELECT sum(failed) FROM counters") == "12")
        #expect(Foreign.value(place.store, "SELECT group_concat(board) FROM counters") == "0")
        #expect(Foreign.value(place.store, "SELECT sum(count) FROM duration WHERE bucket < 16") == "12")
    }
}
