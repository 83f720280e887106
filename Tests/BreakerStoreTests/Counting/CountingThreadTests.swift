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
    @Test func whoWaitsIsToldAtTheDeadlineWhateverCameBefore() async {
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
        thread.askForRound(in: .milliseconds(1)) {
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
        thread.askForRound(in: .milliseconds(1)) {
            ticks.count.add(1, ordering: .relaxed)
            return nil
        }
        for _ in 0..<1_000 { thread.askForRound(in: .seconds(1_000)) { nil } }
        // The first one is the caller's.
        #expect(await eventually { ticks.count.load(ordering: .relaxed) == 2 })
        // One that is earlier does not wait for the one that was asked for before.
        thread.askForRound(in: .seconds(1_000)) { nil }
        thread.askForRound(in: .milliseconds(1)) { nil }
        #expect(await eventually { ticks.count.load(ordering: .relaxed) == 3 })
    }
}
