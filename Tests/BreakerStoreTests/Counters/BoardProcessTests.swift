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

/// Several processes on one board, some of them killed.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct BoardProcessTests {
    /// What one process of a test does until it is killed, and what it told about that in shared memory.
    private struct Member: Sendable {
        /// For each member: failures begun and failures acknowledged, successes begun.
        static let (begun, acknowledged, succeeded) = (0, 1, 2)
        static let maxMembers = 100
        static let maxAtOnce = 4
        /// Few enough that the one who kills gets a processor soon.
        static let threads = 4

        let directory: String
        let number: Int
        let told: SharedNumbers

        init(_ directory: String, _ number: Int) throws {
            self.directory = directory
            self.number = number
            self.told = try SharedNumbers(path: directory + "/told")
        }

        func tell(_ what: Int) { self.told.add(1, at: self.number * 3 + what) }

        /// Fails and succeeds on a circuit of its own, on some threads, for ever.
        func add() throws -> Never {
            let place = try BoardPlace(self.directory)
            let board = try place.open()
            let counter = try place.counter(board, Int64(self.number + 1))
            let lanes = Shared()
            for _ in 0..<Self.threads {
                let thread = StoreThread()
                _ = thread.start {
                    while true {
                        for _ in 0..<9 {
                            self.tell(Self.succeeded)
                            lanes.lanes.add(.succeeded)
                        }
                        self.tell(Self.begun)
                        counter.count(.failed, by: WorkerID(Int64(self.number + 1)), lanes: lanes.lanes) {
                            UptimeClock.ofSystem
                        }
                        self.tell(Self.acknowledged)
                    }
                }
            }
            while true { pause() }
        }
    }

    private final class Shared: Sendable {
        let lanes = Lanes()
    }

    /// Failures that were acknowledged are there, each once, however many processes were killed; and no others.
    @Test func noFailureIsLostOrCountedTwice() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            var living: [(pid_t, Int)] = []
            var random = SplitMix64(seed: 3)
            var born = 0
            func bear() {
                let number = born
                born += 1
                let child = Forked.start {
                    do { try Member(directory, number).add() } catch { return 1 }
                }
                living.append((child, number))
            }
            for _ in 0..<Member.maxAtOnce { bear() }
            while born < Member.maxMembers {
                usleep(UInt32(random.number(in: 2_000...20_000)))
                let (child, _) = living.remove(at: random.number(in: 0...living.count - 1))
                Forked.kill(child)
                bear()
            }
            for (child, _) in living { Forked.kill(child) }
            let told = try SharedNumbers(path: directory + "/told")
            let totals = try BoardReader(at: BoardPlace(directory).path)?.totals() ?? [:]
            var (acknowledged, wrong) = (Int64(0), [Int]())
            for number in 0..<born {
                // Killed before it was on the board, perhaps.
                let own = totals[Int64(number + 1)] ?? CellTotals()
                let told = { told[number * 3 + $0] }
                acknowledged += told(Member.acknowledged)
                let failed = told(Member.acknowledged)...told(Member.begun)
                // Of successes a kill loses what was not published: ten for each of the threads, and some on the way.
                let succeeded = told(Member.succeeded) - Int64(12 * Member.threads)...told(Member.succeeded)
                if !failed.contains(Int64(own.failed)) || !succeeded.contains(Int64(own.succeeded)) {
                    wrong.append(number)
                }
            }
            Forked.say("\(born) processes killed, \(acknowledged) acknowledged failures; wrong: \(wrong)")
            exit(wrong.isEmpty && acknowledged > 1_000 ? 0 : 1)
        }
    }

    /// Whoever registers new circuits at once comes to the same cells, though the board grows under all of them, and
    /// though those who make it grow are killed at it.
    @Test func processesGrowOneBoard() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let incarnations = 400
            func grow(_ number: Int) -> Int32 {
                do {
                    let place = try BoardPlace(directory)
                    let board = try place.open()
                    for index in 0..<incarnations {
                        let incarnation = Int64((index &* 7 + number * 50) % incarnations + 1)
                        let counter = try place.counter(board, incarnation, CountingRules(failureWindow: 16_000_000))
                        counter.totalsCell.add(1, to: .failed)
                    }
                    return 0
                } catch {
                    Forked.say("\(error)")
                    return 1
                }
            }
            // Die at each step of creating and growing, one after the other.
            for step in ["board.filled", "board.allocated", "board.described"] {
                let end = Forked.run {
                    Hook.install { if $0 == step { Forked.die() } }
                    return grow(0)
                }
                if end != .killed(SIGKILL) {
                    Forked.say("\(step): \(end)")
                    exit(2)
                }
            }
            let place = try BoardPlace(directory)
            var before: [Int64: UInt64] = [:]
            for (incarnation, totals) in BoardReader(at: place.path)?.totals() ?? [:] {
                before[incarnation] = totals.failed
            }
            // One of them takes its time while it makes the board grow.
            let children = (0..<6).map { number in
                Forked.start {
                    if number == 0 { Hook.install { if $0 == "board.described" { usleep(100_000) } } }
                    return grow(number)
                }
            }
            let ends = children.map(Forked.wait)
            let totals = BoardReader(at: place.path)?.totals() ?? [:]
            let bad = (1...Int64(incarnations)).filter { totals[$0]?.failed != 6 + (before[$0] ?? 0) }
            if !bad.isEmpty { Forked.say("circuits whose cells are not one: \(bad.prefix(5)), ends \(ends)") }
            exit(bad.isEmpty && ends.allSatisfy { $0 == .exited(0) } ? 0 : 1)
        }
    }

    /// Several threads of several processes make one board grow, slowly: the lock on the lock file's byte 0 belongs to
    /// the process, and must not be given back while another thread of it relies on the byte.
    @Test func threadsOfSeveralProcessesGrowOneBoard() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let (processes, threads, incarnations) = (3, 3, 150)
            @Sendable func incarnation(_ process: Int, _ thread: Int, _ index: Int) -> Int64 {
                Int64(index * processes * threads + process * threads + thread + 1)
            }
            func grow(_ number: Int) -> Int32 {
                do {
                    var random = SplitMix64(seed: UInt64(number))
                    let pauses = Locked((0..<64).map { _ in UInt32(random.number(in: 3_000...30_000)) })
                    Hook.install { if $0 == "board.allocated" { usleep(pauses.withLock { $0.popLast() } ?? 3_000) } }
                    let place = try BoardPlace(directory)
                    let board = try place.open()
                    let failed = Locked(0)
                    let all = (0..<threads).map { thread in
                        let running = StoreThread()
                        let isStarted = running.start {
                            for index in 0..<incarnations {
                                if let counter = try? place.counter(board, incarnation(number, thread, index)) {
                                    counter.totalsCell.add(1, to: .failed)
                                } else {
                                    failed.withLock { $0 += 1 }
                                }
                            }
                        }
                        return isStarted ? running : nil
                    }
                    let ends = all.map { $0?.waitForEnd(until: Deadline(after: .hangLimit)) ?? false }
                    return ends.allSatisfy(\.self) && failed.withLock { $0 } == 0 ? 0 : 1
                } catch {
                    Forked.say("\(error)")
                    return 2
                }
            }
            let ends = (0..<processes).map { number in Forked.start { grow(number) } }.map(Forked.wait)
            let totals = BoardReader(at: try BoardPlace(directory).path)?.totals() ?? [:]
            let bad = (1...Int64(incarnations * processes * threads)).filter { totals[$0]?.failed != 1 }
            if !bad.isEmpty { Forked.say("\(bad.count) circuits have lost their counts, ends \(ends)") }
            exit(bad.isEmpty && ends.allSatisfy { $0 == .exited(0) } ? 0 : 1)
        }
    }

    /// The file is cut, removed and replaced while others add, over and over.
    @Test func nobodyDiesWhenTheFileGoes() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let numbers = try SharedNumbers(path: directory + "/numbers")
            func isOver() -> Bool { numbers[0] != 0 }
            func boardsOpened() -> [Int64] { (0..<4).map { numbers[10 + $0] } }
            func add(_ number: Int) -> Int32 {
                do {
                    let place = try BoardPlace(directory)
                    let lanes = Lanes()
                    while !isOver() {
                        let board = try place.open()
                        let counter = try place.counter(board, 11)
                        numbers.add(1, at: 10 + number)
                        while board.loseIfReplaced(), !isOver() {
                            for _ in 0..<20 {
                                counter.count(
                                    CountedFailure(isFailed: true, isSlow: true), by: WorkerID(Int64(number + 1)),
                                    lanes: lanes
                                ) { UptimeClock.ofSystem }
                                _ = counter.sums(at: UptimeClock.ofSystem)
                            }
                        }
                    }
                    return 0
                } catch {
                    // The file was taken away just while the board was opened or grown, maybe for the last time.
                    if error is BreakerStoreError { return isOver() ? 0 : add(number) }
                    Forked.say("\(error)")
                    return 1
                }
            }
            let children = (0..<4).map { number in Forked.start { add(number) } }
            let path = try BoardPlace(directory).path
            var random = SplitMix64(seed: 5)
            var rounds = 0
            // On a busy machine the others come to few of the boards.
            while rounds < 40 || boardsOpened().reduce(0, +) <= 20 {
                usleep(UInt32(random.number(in: 500...6_000)))
                switch random.number(in: 0...4) {
                case 0: unsafe truncate(path, 0)
                case 1: unsafe truncate(path, off_t(random.number(in: 1...200_000)))
                case 2: unsafe unlink(path)
                case 3:
                    Files.write((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }, to: path + "-other")
                    unsafe rename(path + "-other", path)
                default:
                    // In place, under those who have it in memory.
                    Files.write((0..<300_000).map { _ in random.next() > .max / 2 ? 0xFF : 0 }, to: path)
                }
                rounds += 1
            }
            numbers[0] = 1
            let ends = children.map(Forked.wait)
            Forked.say("boards opened: \(boardsOpened()), ends \(ends)")
            exit(ends.allSatisfy { $0 == .exited(0) } ? 0 : 1)
        }
    }

    /// A call in flight over a fork is counted by the parent alone.
    @Test func aForkCountsNothing() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let place = try BoardPlace(directory)
            let board = try place.open()
            let counter = try place.counter(board, 11)
            let lanes = Lanes()
            func end() {
                lanes.add(.succeeded)
                counter.count(.failed, lanes: lanes) { 20_000_000 }
            }
            end()
            let child = Forked.run {
                end()
                let isPrivate = counter.isLost && counter.sums(at: 20_000_000).failed == nil
                // A child that opens a board of its own counts as any process.
                guard isPrivate, !board.loseIfReplaced(), let other = try? BoardPlace(directory),
                    let own = try? other.counter(other.open(), 12)
                else { return 1 }
                own.totalsCell.add(1, to: .failed)
                return own.totals.failed == 1 ? 0 : 1
            }
            end()
            let isRight =
                child == .exited(0) && counter.totals == CellTotals(succeeded: 2, failed: 2)
                && !board.isLost && board.loseIfReplaced()
            exit(isRight ? 0 : 1)
        }
    }

    /// Twenty processes fail nineteen times between them, then one more: the last one alone sees twenty.
    @Test func theTwentiethFailureOfACrashLoopIsTheOneThatTrips() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            func fail(_ times: Int) -> Int32 {
                do {
                    let place = try BoardPlace(directory)
                    let counter = try place.counter(try place.open(), 11)
                    let lanes = Lanes()
                    let clock = { UptimeClock.ofSystem }
                    for _ in 0..<times { counter.count(.failed, lanes: lanes, clock: clock) }
                    return Int32(counter.sums(at: clock()).failed?.bad ?? -1)
                } catch {
                    return -1
                }
            }
            let first = Forked.run {
                let seen = fail(19)
                Forked.say("\(seen)")
                Forked.die()
            }
            exit(first == .killed(SIGKILL) && Forked.run { fail(1) } == .exited(20) ? 0 : 1)
        }
    }
}
