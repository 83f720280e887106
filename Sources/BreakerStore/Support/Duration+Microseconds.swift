extension Duration {
    private static let attosecondsInAMicrosecond: Int128 = 1_000_000_000_000

    /// The longest duration that a configuration may have: a little over a hundred years, so that sums of stamps and
    /// durations never overflow `Int64`.
    static let longestAllowed = Duration.seconds(3_200_000_000)

    /// For waits that only an event ends: eleven days.
    static let forever = Duration.seconds(1_000_000)

    /// A duration of this many microseconds.
    package init(wholeMicroseconds: Int64) {
        self.init(attoseconds: Int128(wholeMicroseconds) * Self.attosecondsInAMicrosecond)
    }

    /// A duration of this many microseconds, rounded and clamped to the range of `Int64`; zero for NaN.
    init(saturatingMicroseconds: Double) {
        guard !saturatingMicroseconds.isNaN else {
            self = .zero
            return
        }
        let rounded = saturatingMicroseconds.rounded()
        let limit: Int64 = rounded < 0 ? .min : .max
        self.init(wholeMicroseconds: Int64(exactly: rounded) ?? limit)
    }

    /// This duration in microseconds, rounded to the nearest, halves away from zero; nil if `Int64` overflows.
    var wholeMicroseconds: Int64? {
        let (quotient, remainder) = self.attoseconds.quotientAndRemainder(dividingBy: Self.attosecondsInAMicrosecond)
        guard remainder.magnitude * 2 >= Self.attosecondsInAMicrosecond.magnitude else {
            return Int64(exactly: quotient)
        }
        return Int64(exactly: quotient + remainder.signum())
    }

    /// This duration in microseconds, clamped to the range of `Int64`.
    package var saturatingMicroseconds: Int64 {
        self.wholeMicroseconds ?? (self < .zero ? .min : .max)
    }

    /// This duration rounded to microseconds.
    ///
    /// A duration that overflows stays as it is, so that the validation's error can name it.
    var roundedToMicroseconds: Duration {
        guard let microseconds = self.wholeMicroseconds else { return self }
        return Duration(wholeMicroseconds: microseconds)
    }

    /// The sum of both durations; on overflow the shortest or the longest duration.
    func addingSaturating(_ other: Duration) -> Duration {
        let (sum, overflow) = self.attoseconds.addingReportingOverflow(other.attoseconds)
        guard overflow else { return Duration(attoseconds: sum) }
        return Duration(attoseconds: other < .zero ? .min : .max)
    }
}
