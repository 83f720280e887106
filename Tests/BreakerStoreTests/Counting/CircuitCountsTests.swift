import BreakerTestSupport
import Dispatch
import Foundation
import Testing

@testable import BreakerStore

/// What one process counts of a circuit, and what it tells the file.
@Suite(.timeLimit(.minutes(10))) struct CircuitCountsTests {
    private static let rules = Rules(
        CircuitBreaker.Config(name: "a", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(16))))

    private static func grow(_ body: () throws(BreakerStoreError) -> Void) throws(BreakerStoreError) { try body() }

    private static func fail(_ counts: CircuitCounts, on board: Board? = nil) {
        counts.count(
            BadEnd(isFailed: true, isSlow: false), by: 1, epoch: 5, ownEpoch: nil,
            in: counts.makeCounters(on: board, growing: Self.grow), clock: { 1_000_000 })
    }

    /// Several threads find that there are no counters yet: none counts where nobody looks.
    @Test func theFirstEndsOfSeveralThreadsAreAllCounted() {
        for round in 1...500 {
            let counts = CircuitCounts()
            counts.know(birth: 7, Self.rules, epoch: 5)
            let group = DispatchGroup()
            let start = DispatchSemaphore(value: 0)
            for _ in 0..<4 {
                Thread.detach(group) {
                    start.wait()
                    Self.fail(counts)
                }
            }
            for _ in 0..<4 { start.signal() }
            group.wait()
            let made = counts.madeCounters
            #expect(made?.stray?.totals.failed == 4 && made?.own?.totals.failed == 4, "round \(round)")
        }
    }

    /// What was counted privately of a circuit that was forgotten is not told of the one that has its name now.
    @Test func aNewCircuitOfTheNameHasNoOldCounts() {
        let counts = CircuitCounts()
        counts.know(birth: 7, Self.rules, epoch: 5)
        for _ in 0..<3 { Self.fail(counts) }
        #expect(counts.takeTallies(at: 0, pause: 0, by: 1).map(\.totals.failed) == [3])
        for _ in 0..<2 { Self.fail(counts) }
        counts.know(birth: 8, Self.rules, epoch: 9)
        #expect(counts.takeTallies(at: 0, pause: 0, by: 1).isEmpty)
        Self.fail(counts)
        let tallies = counts.takeTallies(at: 0, pause: 0, by: 1)
        #expect(tallies.map(\.totals.failed) == [1] && tallies.map(\.birth) == [8])
    }

    /// All workers see the totals of a board: one of them tells the file.
    @Test func ofAllWorkersOneTellsTheFile() throws {
        try BoardPlace.withBoard { _, board in
            let workers = (0..<100).map { _ in CircuitCounts() }
            for counts in workers { counts.know(birth: 7, Self.rules, epoch: 5) }
            func told(at uptime: Int64, isCommitted: Bool = true) -> [UInt64] {
                workers.flatMap { counts in
                    _ = counts.makeCounters(on: board, growing: Self.grow)
                    let tallies = counts.takeTallies(at: uptime, pause: 5_000_000, by: 1)
                    if isCommitted { counts.told(tallies) }
                    return tallies.map(\.totals.failed)
                }
            }
            #expect(told(at: 1_000_000) == [])
            Self.fail(workers[0], on: board)
            #expect(told(at: 1_000_000) == [1])
            Self.fail(workers[1], on: board)
            #expect(told(at: 5_999_999) == [], "another worker told just now")
            #expect(told(at: 6_000_000) == [2])
            #expect(told(at: 60_000_000) == [], "nothing has changed")
            // The worker that took the numbers could not commit.
            Self.fail(workers[1], on: board)
            #expect(told(at: 90_000_000, isCommitted: false) == [3])
            #expect(told(at: 120_000_000) == [3])
            Self.fail(workers[2], on: board)
            #expect(told(at: 3_000_000) == [4], "told in the future: that is damage")
        }
    }

    /// A thread that read the file earlier, and is slower, does not undo what was read later.
    @Test func anOlderReadingIsNotTakenOver() {
        let counts = CircuitCounts()
        counts.know(birth: 7, Self.rules, epoch: 5, if: { false })
        #expect(counts.epoch == 5, "better than nothing")
        counts.know(birth: 7, Self.rules, epoch: 9)
        counts.know(birth: 6, .defaults, epoch: 5, if: { false })
        #expect(counts.epoch == 9 && counts.shortestWindow == 16_000_000)
    }
}
