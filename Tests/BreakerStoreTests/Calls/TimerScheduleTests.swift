import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Who is woken when, and how many tasks sleep for that.
@Suite struct TimerScheduleTests {
    private let start = ContinuousClock.now

    private func time(_ seconds: Int) -> ContinuousClock.Instant { self.start + .seconds(seconds) }

    @Test func oneSleeperIsEnoughForDeadlinesThatRise() {
        var schedule = TimerSchedule<Int>(start: self.start)
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
        var schedule = TimerSchedule<Int>(start: self.start)
        _ = schedule.add(1, until: self.time(10), at: self.time(0))
        #expect(schedule.add(2, until: self.time(3), at: self.time(1)).sleepUntil == self.time(3))
        #expect(schedule.add(3, until: self.time(3), at: self.time(1)).sleepUntil == nil)
        let early = schedule.wokeUp(self.time(3), at: self.time(3))
        #expect(early.due.sorted() == [2, 3])
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
        var schedule = TimerSchedule<Int>(start: self.start)
        let (key, _) = schedule.add(1, until: self.time(10), at: self.time(0))
        _ = schedule.add(2, until: self.time(15), at: self.time(5))
        #expect(schedule.remove(key) == 1)
        let (due, sleepUntil) = schedule.wokeUp(self.time(10), at: self.time(10))
        #expect(due == [])
        #expect(sleepUntil == self.time(15))
        #expect(schedule.wokeUp(self.time(15), at: self.time(15)).due == [2])
    }

    @Test func whoWakesUpTooEarlySleepsAgain() {
        var schedule = TimerSchedule<Int>(start: self.start)
        _ = schedule.add(1, until: self.time(10), at: self.time(0))
        let (due, sleepUntil) = schedule.wokeUp(self.time(10), at: self.time(10) - .nanoseconds(1))
        #expect(due == [])
        #expect(sleepUntil == self.time(10))
    }

    /// A deadline comes up to 10 ms late, and never early.
    @Test func deadlinesAreRoundedUpToTicks() {
        var schedule = TimerSchedule<Int>(start: self.start)
        let late = self.start + .microseconds(20_001)
        #expect(schedule.add(1, until: late, at: self.start).sleepUntil == self.start + .milliseconds(30))
        let early = self.start + .milliseconds(20)
        #expect(schedule.add(2, until: early, at: self.start).sleepUntil == early)
        let (due, sleepUntil) = schedule.wokeUp(early, at: late)
        #expect(due == [2])
        #expect(sleepUntil == nil)
        #expect(schedule.wokeUp(self.start + .milliseconds(30), at: self.start + .milliseconds(30)).due == [1])
    }

    /// Each waiter is woken once or removed once, whatever the order.
    @Test(arguments: 0..<20 as Range<UInt64>) func eachWaiterIsGoneOnce(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var schedule = TimerSchedule<Int>(start: self.start)
        var waiting: [Int: (key: TimerSchedule<Int>.Key, deadline: Int)] = [:]
        var now = 0
        for waiter in 0..<1_000 {
            let deadline = now + Int.random(in: 0..<200, using: &random)
            let (key, _) = schedule.add(
                waiter, until: self.start + .milliseconds(deadline), at: self.start + .milliseconds(now))
            waiting[waiter] = (key, deadline)
            if Bool.random(using: &random), let one = waiting.randomElement(using: &random) {
                #expect(schedule.remove(one.value.key) == one.key)
                #expect(schedule.remove(one.value.key) == nil)
                waiting[one.key] = nil
            }
            now += Int.random(in: 0..<5, using: &random)
            let time = self.start + .milliseconds(now)
            for wakeUp in schedule.wakeUps where wakeUp <= time {
                for due in schedule.wokeUp(wakeUp, at: time).due {
                    #expect(waiting[due].map { $0.deadline <= now } == true)
                    waiting[due] = nil
                }
            }
            // Nobody is woken later than the tick after its deadline.
            #expect(waiting.values.allSatisfy { $0.deadline > now - 10 })
            #expect(schedule.count == waiting.count)
        }
    }

    @Test func nobodySleepsForNobody() {
        var schedule = TimerSchedule<Int>(start: self.start)
        let (key, _) = schedule.add(1, until: self.time(10), at: self.time(0))
        #expect(schedule.remove(key) == 1)
        let (due, sleepUntil) = schedule.wokeUp(self.time(10), at: self.time(10))
        #expect(due == [])
        #expect(sleepUntil == nil)
        #expect(schedule.add(2, until: self.time(30), at: self.time(20)).sleepUntil == self.time(30))
    }

    @Test func aLongTimeoutIsSleptInParts() {
        var schedule = TimerSchedule<Int>(start: self.start)
        let year = 31_536_000
        #expect(schedule.add(1, until: self.time(100 * year), at: self.time(0)).sleepUntil == self.time(60))
        #expect(schedule.wokeUp(self.time(60), at: self.time(61)).sleepUntil == self.time(121))
    }

    /// Two timeouts in turn, over and over: never more than a sleeper for each.
    @Test func thereAreNoMoreSleepersThanTimeouts() {
        var schedule = TimerSchedule<Int>(start: self.start)
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
