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
}
