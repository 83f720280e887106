/// An instant on the file's own clock, in microseconds.
///
/// Arithmetic saturates: rows may have any value.
struct StoreTime: Hashable, Comparable, Sendable {
    var microseconds: Int64

    static func < (left: StoreTime, right: StoreTime) -> Bool { left.microseconds < right.microseconds }

    func adding(_ microseconds: Int64) -> StoreTime {
        StoreTime(microseconds: self.microseconds.addingSaturating(microseconds))
    }

    func subtracting(_ microseconds: Int64) -> StoreTime {
        StoreTime(microseconds: self.microseconds.subtractingSaturating(microseconds))
    }

    /// The time since `earlier`; negative if `earlier` lies ahead.
    func microseconds(since earlier: StoreTime) -> Int64 {
        self.microseconds.subtractingSaturating(earlier.microseconds)
    }
}

extension Int64 {
    package func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = self.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    package func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflow) = self.subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// Truncates; clamps a value that does not fit, and makes 0 of NaN.
    init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= 0x1p63 {
            self = .max
        } else if value <= -0x1p63 {
            self = .min
        } else {
            self = Int64(value)
        }
    }
}
