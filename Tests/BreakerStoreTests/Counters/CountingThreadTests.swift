import BreakerTestSupport
import Dispatch
import Synchronization
import Testing

@testable import BreakerStore

/// The thread that publishes and decides, and the thread that adds to the board for tasks.
@Suite(.timeLimit(.minutes(10))) struct CountingThreadTests {
    private final class Ticks: Sendable {
        let count = Atomic<Int>(0)
    }

    /// An end that nobody waits for hangs with the file system: those who wait do so to their own deadline.
    @Test func aWaitingCallIsResumedAtTheDeadline() async {
        let jobs = CountingJobs()
        defer { jobs.stop() }
        let timer = SharedTimer()
        let end = DispatchSemaphore(value: 0)
        jobs.run { end.wait() }
        let value = await jobs.value(until: Deadline(after: .milliseconds(20)), by: timer) { 1 }
        #expect(value == nil)
        end.signal()
        #expect(await jobs.value(until: Deadline(after: .hangLimit), by: timer) { 2 } == 2)
    }

    /// A job may wait as long as it likes: the thread that counts has its rounds all the same.
    @Test func roundsWaitForNoJob() async {
        let thread = CountingThread()
        let jobs = CountingJobs()
        defer {
            thread.stop()
            jobs.stop()
        }
        let ticks = Ticks()
        let end = DispatchSemaphore(value: 0)
        jobs.run { end.wait() }
        thread.requestRound(in: .milliseconds(1)) {
            ticks.count.add(1, ordering: .relaxed)
            return .milliseconds(1)
        }
        #expect(await eventually { ticks.count.load(ordering: .relaxed) > 10 })
        end.signal()
    }

    /// A circuit with a long window is registered after one with a short window.
    @Test func aLaterRequestDelaysNoTick() async {
        let thread = CountingThread()
        defer { thread.stop() }
        let ticks = Ticks()
        thread.requestRound(in: .milliseconds(1)) {
            ticks.count.add(1, ordering: .relaxed)
            return nil
        }
        for _ in 0..<1_000 { thread.requestRound(in: .seconds(1_000)) { nil } }
        // The first one is the caller's.
        #expect(await eventually { ticks.count.load(ordering: .relaxed) == 2 })
        // One that is earlier does not wait for the one that was asked for before.
        thread.requestRound(in: .seconds(1_000)) { nil }
        thread.requestRound(in: .milliseconds(1)) { nil }
        #expect(await eventually { ticks.count.load(ordering: .relaxed) == 3 })
    }

    /// The round that the caller's thread has begun with may ask for another one soon.
    @Test func theFirstRoundIsFollowedWhenItAsksForThat() async {
        let thread = CountingThread()
        defer { thread.stop() }
        let ticks = Ticks()
        thread.requestRound(in: .seconds(1_000)) {
            ticks.count.add(1, ordering: .relaxed)
            return .milliseconds(1)
        }
        #expect(await eventually { ticks.count.load(ordering: .relaxed) > 2 })
    }

    /// The thread sleeps on the bell of its seat, and nothing is due; then the board is lost.
    @Test func aLostBoardKeepsNobodyFromWakingTheThread() async throws {
        let directory = try Directory.make("bell")
        defer { Directory.remove(directory) }
        let board = try BoardPlace(directory).open()
        let seats = try board.acquireSeat(for: 1, isAlive: { _ in true }, making: .alone)
        let thread = CountingThread()
        defer { thread.stop() }
        let ticks = Ticks()
        thread.bell.use(seats)
        thread.requestRound(in: .zero) {
            ticks.count.add(1, ordering: .relaxed)
            return nil
        }
        #expect(await eventually { ticks.count.load(ordering: .relaxed) >= 1 })
        // By then it sleeps; if not yet, it is woken by what follows all the same.
        try await Task.sleep(for: .milliseconds(200))
        board.lose()
        let known = ticks.count.load(ordering: .relaxed)
        thread.requestRound(in: .zero) { nil }
        #expect(await eventually { ticks.count.load(ordering: .relaxed) > known })
    }

    /// Questions come one after the other, from many processes or from an enemy: the thread is not always busy.
    @Test func aStormOfQuestionsLeavesTimeToSleep() async throws {
        let directory = try Directory.make("bell")
        defer { Directory.remove(directory) }
        let board = try BoardPlace(directory).open()
        let seats = try board.acquireSeat(for: 1, isAlive: { _ in true }, making: .alone)
        let other = try board.acquireSeat(for: 2, isAlive: { _ in true }, making: .alone)
        let thread = CountingThread()
        defer { thread.stop() }
        let ticks = Ticks()
        thread.bell.use(seats)
        let began = ContinuousClock.now
        thread.requestRound(in: .zero) {
            ticks.count.add(1, ordering: .relaxed)
            thread.bell.setSeen(seats.asked)
            return nil
        }
        while ticks.count.load(ordering: .relaxed) < 300, began.duration(to: .now) < .hangLimit {
            _ = other.ask()
            other.ring([0])
        }
        let elapsed = began.duration(to: .now)
        #expect(elapsed >= .microseconds(100) * 290, "\(elapsed)")
    }
}
