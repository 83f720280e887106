#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Outages as the headers of a response declare them.
extension Verdict {
    /// An outage by the header `Retry-After`: seconds, or an HTTP date; nil if the text is neither.
    ///
    /// A date that is past declares an outage of no time: the next call is a probe, and if that fails in the same way,
    /// the circuit stays open as long as its recovery rule says. No text is too large.
    /// - Parameters:
    ///   - header: the header's value.
    ///   - date: the value of the same response's header `Date`, from which an HTTP date counts; without it, or if it
    ///     can't be read, the date counts from now by the system's clock.
    public static func outage(retryAfter header: String, date: String? = nil) -> Verdict? {
        if let seconds = HeaderTime.seconds(header) { return .outage(for: seconds) }
        guard let end = HeaderTime.date(header) else { return nil }
        return .outage(for: HeaderTime.time(from: date.flatMap(HeaderTime.date), to: end))
    }

    /// An outage by the header `RateLimit-Reset` or `X-RateLimit-Reset`: seconds, or a Unix time; nil if the text is no
    /// such number.
    ///
    /// A number from 1,000,000,000 on, the year 2001, is a Unix time, and from 100,000,000,000 on one in milliseconds.
    /// - Parameter header: the header's value.
    public static func outage(rateLimitReset header: String) -> Verdict? {
        guard let number = HeaderTime.number(header) else { return nil }
        if number < 1e9 { return .outage(for: HeaderTime.seconds(number)) }
        let end = number < 1e11 ? number : number / 1_000
        return .outage(for: HeaderTime.time(from: nil, to: end))
    }
}

/// Reads times as headers of HTTP have them.
enum HeaderTime {
    /// A hundred years: no header asks for longer, and no sum overflows.
    private static let maxSeconds = 3.2e9

    /// A number of seconds that is not negative; nil for any other text.
    static func seconds(_ text: String) -> Duration? { self.number(text).map { self.seconds($0) } }

    static func seconds(_ number: Double) -> Duration { .seconds(min(max(0, number), self.maxSeconds).rounded(.up)) }

    /// A decimal number without a sign or an exponent.
    static func number(_ text: String) -> Double? {
        let digits = text.trimmedOfBlanks
        guard let first = digits.utf8.first, (0x30...0x39).contains(first), digits.utf8.count <= 400,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(digits).map { min($0, 1e300) }
    }

    /// The time from one Unix time, or from now, to another; zero if that is past.
    static func time(from start: Double?, to end: Double) -> Duration {
        self.seconds(end - (start ?? Date().timeIntervalSince1970))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The Unix time of an HTTP date, in any of the three forms of RFC 9110, section 5.6.7; nil for any other text.
    static func date(_ text: String) -> Double? {
        // The longest form has 33 characters; an enemy's header may have any number.
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split { " ,-".contains($0) }.map { String($0) }
        let isOfC = parts.count == 5
        guard isOfC || parts.count == 6 && parts[5] == "GMT" else { return nil }
        let (dayText, monthText) = isOfC ? (parts[2], parts[1]) : (parts[1], parts[2])
        let (yearText, timeText) = isOfC ? (parts[4], parts[3]) : (parts[3], parts[4])
        let clock = timeText.split(separator: ":", omittingEmptySubsequences: false).map { self.digits(String($0)) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24,
            minute < 60, second <= 60, let day = self.digits(dayText), (1...31).contains(day),
            let month = self.months.firstIndex(of: monthText), var year = self.digits(yearText)
        else { return nil }
        // Two digits: the RFC's rule of fifty years, for a clock of this century.
        if yearText.utf8.count == 2 { year += year < 80 ? 2_000 : 1_900 }
        guard year >= 1_601 else { return nil }
        let days = self.days(to: year, month: month + 1, day: day)
        return Double(days * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    private static func digits(_ text: String) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// The days from 1970-01-01 to a date of the Gregorian calendar, for years after 1600.
    private static func days(to year: Int, month: Int, day: Int) -> Int {
        // The year begins in March, so that a leap day is its last day.
        let year = month > 2 ? year : year - 1
        let month = month > 2 ? month - 3 : month + 9
        return year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469
    }
}

extension String {
    fileprivate var trimmedOfBlanks: String {
        let start = self.drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
