import Testing

@testable import BreakerStore

/// The window's promise, against logs that know when each call ended.
@Suite(.timeLimit(.minutes(10))) struct WindowWalkTests {
    /// With t the longest time between looks, or between two publishes of a process: never a trip if the share is not
    /// reached even with the failures of t before the window and without the successes of its first and last t; always
    /// one if it is reached the other way round.
    @Test(arguments: 1...40 as ClosedRange<UInt64>) func judgesAsTheLogsDo(seed: UInt64) {
        var walk = WindowWalk(seed: seed, processes: Int(seed % 4) + 1)
        var (early, late, never, always) = (0, 0, 0, 0)
        for _ in 0..<4_000 {
            guard let judgement = walk.step() else { continue }
            for share in [0.05, 0.3, 0.5, 0.9, 1] {
                if judgement.mustNotTrip(share) {
                    never += 1
                    if judgement.trips(share, 1) { early += 1 }
                }
                for minimum in [1, 10, 100] where judgement.mustTrip(share, minimum) {
                    always += 1
                    if !judgement.trips(share, minimum) { late += 1 }
                }
            }
        }
        #expect(early == 0 && late == 0, "of \(never) that must not, and \(always) that must")
    }

    /// Traffic that begins, in one process with successes, in another with failures; processes that are stopped and
    /// killed, threads that stop while they move counts.
    ///
    /// No trip comes before the rate is reached, and none is missing once it is, whatever has not been published when
    /// a call fails.
    @Test func tripsByWhatAllProcessesHave() {
        let walks = Self.seeds.map { seed in
            var walk = QuestionWalk(seed: seed)
            return (seed, walk.run())
        }
        let all = walks.map(\.1).reduce(QuestionWalk.Findings(), +)
        #expect(all.trips > 100)
        #expect(walks.filter { $0.1.early > 0 }.map(\.0) == [], "early, of \(all.trips)")
        #expect(walks.filter { $0.1.missed > 0 }.map(\.0) == [], "missed")
    }

    private static let seeds: ClosedRange<UInt64> = 1...400

    /// The walk sees each wrong line that is put around the real values.
    @Test(arguments: QuestionWalk.Plant.allCases) func seesEarlyTripsOf(plant: QuestionWalk.Plant) {
        let isSeen = (UInt64(1)...4_000).contains { seed in
            var walk = QuestionWalk(seed: seed, plant: plant)
            return walk.run().early > 0
        }
        #expect(isSeen)
    }
}
