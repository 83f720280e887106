import Testing

@testable import BreakerStore

/// Who is woken when, and how many tasks sleep for that.
@Suite struct TimerScheduleTests {
    private let start = ContinuousClock.now

    private func time(_ seconds: Int) -> ContinuousClock.Instant { self.start + .seconds(seconds) }

    @Test func oneSleeperIsEnoughForDeadlinesThatRise() {
        var schedule = TimerSchedule<Int>()
        #expect(schedule.add(0, until: self.time(10), at: self.time(0)).sleepUntil == self.time(10))
        for call in 1..<1_000 {
            let (key, sleepUntil) = schedule.add(call, until: self.time(10 + call), at: self.time(0))
            #expect(sleepUntil == nil)
            #expect(schedule.remove(key) == call)
        }
        #expect(schedule.wakeUps == [self.time(10)])
        #expect(schedule.count == 1)
    }

    @Test func anEarlierDeadlineHasASleeperOfItsOwn() {
        var schedule = TimerSchedule<Int>()
        _ = schedule.add(1, until: self.time(10), at: self.time(0))
        #expect(schedule.add(2, until: self.time(3), at: self.time(1)).sleepUntil == self.time(3))
        #expect(schedule.add(3, until: self.time(3), at: self.time(1)).sleepUntil == nil)
        let early = schedule.wokeUp(self.time(3), at: self.time(3))
        #expect(early.due == [2, 3])
        // The other one sleeps still.
        #expect(early.sleepUntil == nil)
        #expect(schedule.wakeUps == [self.time(10)])
        let late = schedule.wokeUp(self.time(10), at: self.time(11))
        #expect(late.due == [1])
        #expect(late.sleepUntil == nil)
        #expect(schedule.wakeUps.isEmpty)
    }

    /// The first sleeper wakes up for nobody, and sleeps on for those who came meanwhile.
    @Test func aSleeperSleepsOnForThoseWhoWait() {
        var schedule = TimerSchedule<Int>()
        let (key, _) = schedule.add(1, until: self.time(10), at: self.time(0))
        _ = schedule.add(2, until: self.time(15), at: self.time(5))
        #expect(schedule.remove(key) == 1)
        let (due, sleepUntil) = schedule.wokeUp(self.time(10), at: self.time(10))
        #expect(due == [])
        #expect(sleepUntil == self.time(15))
        #expect(schedule.wokeUp(self.time(15), at: self.time(15)).due == [2])
    }

    @Test func whoWakesUpTooEarlySleepsAgain() {
        var schedule = TimerSchedule<Int>()
        _ = schedule.add(1, until: self.time(10), at: self.time(0))
        let (due, sleepUntil) = schedule.wokeUp(self.time(10), at: self.time(10) - .nanoseconds(1))
        #expect(due == [])
        #expect(sleepUntil == self.time(10))
    }

    @Test func nobodySleepsForNobody() {
        var schedule = TimerSchedule<Int>()
        let (key, _) = schedule.add(1, until: self.time(10), at: self.time(0))
        #expect(schedule.remove(key) == 1)
        let (due, sleepUntil) = schedule.wokeUp(self.time(10), at: self.time(10))
        #expect(due == [])
        #expect(sleepUntil == nil)
        #expect(schedule.add(2, until: self.time(30), at: self.time(20)).sleepUntil == self.time(30))
    }

    @Test func aLongTimeoutIsSleptInParts() {
        var schedule = TimerSchedule<Int>()
        let year = 31_536_000
        #expect(schedule.add(1, until: self.time(100 * year), at: self.time(0)).sleepUntil == self.time(60))
        #expect(schedule.wokeUp(self.time(60), at: self.time(61)).sleepUntil == self.time(121))
    }

    /// Two timeouts in turn, over and over: never more than a sleeper for each.
    @Test func thereAreNoMoreSleepersThanTimeouts() {
        var schedule = TimerSchedule<Int>()
        for second in 0..<1_000 {
            _ = schedule.add(second, until: self.time(second + 50), at: self.time(second))
            let (key, _) = schedule.add(second, until: self.time(second + 2), at: self.time(second))
            #expect(schedule.remove(key) == second)
            #expect(schedule.wakeUps.count <= 2)
            for wakeUp in schedule.wakeUps where wakeUp <= self.time(second) {
                _ = schedule.wokeUp(wakeUp, at: self.time(second))
            }
        }
        #expect(schedule.count <= 51)
    }
}
