import Testing

@testable import BreakerStore

@Suite struct RulesTests {
    @Test func recoveryGrowsToTheCapAndIsNeverCutBelowItself() {
        var rules = Rules(
            trip: .failures(5, window: 60),
            recovery: 10,
            multiplier: 2,
            cap: 35,
            jitter: 0,
            probeLimit: 1,
            successesToClose: 1,
            lease: 10,
            minimumReporters: 1
        )
        #expect((0...3).map { rules.recoveryTime(afterTrips: $0, draw: 0) } == [10, 20, 35, 35])
        rules.recovery.jitter = 0.5
        #expect(rules.recoveryTime(afterTrips: 9, draw: 0.5) == 43)
        rules.cap = 3
        #expect(rules.recoveryTime(afterTrips: 9, draw: 0) == 10)
    }
}
