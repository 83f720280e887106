#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Date {
    /// Milliseconds since 1970, within the years 0 to 9999 that RFC 3339 can write.
    package var milliseconds: Int64 {
        let exact = (self.timeIntervalSince1970 * 1_000).rounded()
        return Int64(min(max(exact, -62_167_219_200_000), 253_402_300_799_999))
    }

    /// The time in RFC 3339's form, in UTC, such as `2026-01-01T00:00:00.000Z`.
    package var rfc3339: String {
        let (day, inDay) = Self.divide(self.milliseconds, by: 86_400_000)
        let (year, month, dayOfMonth) = Self.civil(fromDay: day)
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))"
        let hours = Self.padded(inDay / 3_600_000, 2)
        let minutes = Self.padded(inDay / 60_000 % 60, 2)
        let seconds = Self.padded(inDay / 1_000 % 60, 2)
        return "\(date)T\(hours):\(minutes):\(seconds).\(Self.padded(inDay % 1_000, 3))Z"
    }

    /// How long it is from `other` to this time, in whole milliseconds.
    package func since(_ other: Date) -> Duration { .milliseconds(self.milliseconds - other.milliseconds) }

    private static func divide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// The date of a day since 1970-01-01, by years that begin in March, so that a leap day is the last of its year.
    private static func civil(fromDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = Self.divide(day + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func padded(_ value: Int64, _ digits: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

extension Duration {
    /// The duration in milliseconds, rounded to the nearest.
    package var wholeMilliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }
}
