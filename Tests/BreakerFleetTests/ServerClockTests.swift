#if PostgreSQL
import Testing

@testable import BreakerFleet

@Suite struct ServerClockTests {
    @Test func theAnswerThatCameSoonestSaysMost() {
        var clock = ServerClock()
        #expect(clock.time(at: 5) == nil)
        for (time, sent) in [(1_050, 50), (1_110, 100), (1_240, 200)] as [(Int64, Int64)] {
            clock.answered(time, to: sent)
        }
        #expect(clock.time(at: 300) == 1_300)
    }

    @Test func aClockThatWasSetIsBelievedAtOnce() {
        var clock = ServerClock()
        for time: Int64 in [1_000, 9_000_000_000, 2_000, .max, .min, .max, 0] {
            clock.answered(time, to: 0)
            #expect(clock.time(at: 0) == time)
        }
    }
}
#endif
