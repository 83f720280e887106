import BreakerTestSupport
import Dispatch
import Foundation
import Testing

@testable import BreakerStore

/// What one process counts of a circuit, and what it tells the file.
@Suite(.timeLimit(.minutes(10))) struct CircuitCountsTests {
    private static let rules = Rules(
        CircuitBreaker.Config(name: "a", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(16))))

    /// Several threads find that there are no counters yet: none counts where nobody looks.
    @Test func theFirstEndsOfSeveralThreadsAreAllCounted() {
        for round in 1...500 {
            let counts = CircuitCounts()
            counts.update(incarnation: 7, Self.rules, epoch: 5)
            let group = DispatchGroup()
            let start = DispatchSemaphore(value: 0)
            for _ in 0..<4 {
                Thread.detach(group) {
                    start.wait()
                    counts.fail()
                }
            }
            for _ in 0..<4 { start.signal() }
            group.wait()
            let made = counts.madeCellPair
            #expect(made?.own?.totals.failed == 4, "round \(round)")
            #expect(made?.own?.sums(at: 1_000_000).failed?.bad == 4, "round \(round)")
        }
    }

    /// What was counted privately of a circuit that was forgotten is not told of the one that has its name now.
    @Test func aNewCircuitOfTheNameHasNoOldCounts() {
        let counts = CircuitCounts()
        counts.update(incarnation: 7, Self.rules, epoch: 5)
        for _ in 0..<3 { counts.fail() }
        #expect(counts.unsavedOwn(by: 1)?.totals?.failed == 3)
        for _ in 0..<2 { counts.fail() }
        counts.update(incarnation: 8, Self.rules, epoch: 9)
        #expect(counts.unsavedOwn(by: 1) == nil)
        counts.fail()
        let tally = counts.unsavedOwn(by: 1)
        #expect(tally?.totals?.failed == 1 && tally?.incarnation == 8)
    }

    /// All workers see the totals of a board: one of them tells the file.
    @Test func ofAllWorkersOneSavesTheCounts() throws {
        try BoardPlace.withBoard { place, board in
            let boards = try (0..<100).map { _ in try place.open() }
            func told(at uptime: Uptime, isCommitted: Bool = true) -> [UInt64?] {
                boards.flatMap { board -> [UInt64?] in
                    guard board.acquireTurn(at: uptime, pause: 5_000_000) else { return [] }
                    let counters = board.unsaved(from: 0, atMost: 1_000).counters
                    if isCommitted { board.setSaved(counters) }
                    return counters.map(\.totals?.failed)
                }
            }
            let counter = try place.counter(board, 7, CountingRules())
            #expect(told(at: 1_000_000) == [])
            counter.addToTotals(.failed)
            #expect(told(at: 5_999_999) == [], "another worker has told just now")
            #expect(told(at: 6_000_000) == [1])
            #expect(told(at: 60_000_000) == [], "nothing has changed")
            // The worker whose turn it was could not commit.
            counter.addToTotals(.failed)
            #expect(told(at: 90_000_000, isCommitted: false) == [2])
            #expect(told(at: 120_000_000) == [2])
            counter.addToTotals(.failed)
            #expect(told(at: 3_000_000) == [3], "told in the future: that is damage")
        }
    }

    /// A thread that read the file earlier, and is slower, does not undo what was read later.
    @Test func anOlderReadingIsNotTakenOver() {
        let counts = CircuitCounts()
        counts.update(incarnation: 7, Self.rules, epoch: 5, if: { false })
        #expect(counts.epoch == 5, "better than nothing")
        counts.update(incarnation: 7, Self.rules, epoch: 9)
        counts.update(incarnation: 6, .defaults, epoch: 5, if: { false })
        #expect(counts.epoch == 9 && counts.shortestWindow == 16_000_000)
    }
}
