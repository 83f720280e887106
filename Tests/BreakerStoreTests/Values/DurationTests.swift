import Testing

@testable import BreakerStore

@Suite struct DurationTests {
    @Test(
        arguments: [
            (Duration.zero, 0),
            (.nanoseconds(499), 0),
            (.nanoseconds(500), 1),
            (.nanoseconds(1_499), 1),
            (.nanoseconds(-500), -1),
            (.nanoseconds(-499), 0),
            (.seconds(60), 60_000_000),
            (Duration(wholeMicroseconds: .max), .max),
            (Duration(wholeMicroseconds: .min), .min),
        ] as [(Duration, Int64)])
    func roundsToTheNearestMicrosecond(duration: Duration, microseconds: Int64) {
        #expect(duration.wholeMicroseconds == microseconds)
        #expect(duration.saturatingMicroseconds == microseconds)
        #expect(duration.roundedToMicroseconds == Duration(wholeMicroseconds: microseconds))
    }

    @Test(arguments: [
        (Duration(attoseconds: .max), Int64.max),
        (Duration(attoseconds: .min), Int64.min),
        (Duration(wholeMicroseconds: .max) + .nanoseconds(500), Int64.max),
        (Duration(wholeMicroseconds: .min) - .nanoseconds(500), Int64.min),
    ])
    func keepsWhatOverflows(duration: Duration, limit: Int64) {
        #expect(duration.wholeMicroseconds == nil)
        #expect(duration.saturatingMicroseconds == limit)
        #expect(duration.roundedToMicroseconds == duration)
    }

    @Test(
        arguments: [
            (0.4, 0), (0.5, 1), (-3, -3), (1e30, .max), (-1e30, .min), (.infinity, .max), (.nan, 0),
        ] as [(Double, Int64)])
    func takesAnyNumberOfMicroseconds(number: Double, microseconds: Int64) {
        #expect(Duration(saturatingMicroseconds: number) == Duration(wholeMicroseconds: microseconds))
    }

    @Test func addsWithoutOverflow() {
        let longest = Duration(attoseconds: .max)
        let shortest = Duration(attoseconds: .min)
        #expect(Duration.seconds(1).addingSaturating(.seconds(2)) == .seconds(3))
        #expect(longest.addingSaturating(.seconds(1)) == longest)
        #expect(shortest.addingSaturating(.seconds(-1)) == shortest)
    }

    @Test(arguments: [
        (Duration.zero, "0 s"),
        (.nanoseconds(400), "0.4 µs"),
        (.microseconds(250), "250 µs"),
        (.milliseconds(250), "250 ms"),
        (.milliseconds(12_340), "12.3 s"),
        (.milliseconds(-12_350), "-12.4 s"),
        (.seconds(119), "119 s"),
        (.seconds(120), "2 min"),
        (.seconds(600), "10 min"),
        (.seconds(2 * 3_600 + 1_800), "2.5 h"),
        (.seconds(72 * 3_600), "3 d"),
        (Duration(attoseconds: .max), "1969226660422097.6 d"),
    ])
    func readsWell(duration: Duration, text: String) {
        #expect(duration.readable == text)
    }
}
