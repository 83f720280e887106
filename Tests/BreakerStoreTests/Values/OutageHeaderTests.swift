import Testing

@testable import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the headers of a response say, also if an enemy wrote them.
@Suite struct OutageHeaderTests {
    private static let hundredYears = Duration.seconds(3_200_000_000)

    @Test(
        arguments: [
            ("120", .seconds(120)), ("0", .zero), (" 7\t", .seconds(7)), ("1.5", .seconds(2)), ("0.001", .seconds(1)),
            ("4611686018427387904", Self.hundredYears), (String(repeating: "9", count: 300), Self.hundredYears),
            (String(repeating: "9", count: 400), Self.hundredYears),
        ] as [(String, Duration)])
    func retryAfterHasSeconds(_ text: String, _ time: Duration) {
        #expect(Verdict.outage(retryAfter: text) == .outage(for: time))
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "NaN", "nan", "inf", "1e3", "0x10", "1.2.3", ".5", "soon", "1 2", "\u{661}",
        String(repeating: "9", count: 401), "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
        "Sun, 06 Nov 0001 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 :: GMT", ",,,,, GMT",
    ])
    func otherTextsAreNoOutage(_ text: String) {
        #expect(Verdict.outage(retryAfter: text) == nil)
        #expect(Verdict.outage(rateLimitReset: text) == nil)
    }

    /// The three forms of an HTTP date, and the response's own date.
    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func retryAfterHasDates(_ text: String) {
        #expect(HeaderTime.date(text) == 784_111_777)
        let verdict = Verdict.outage(retryAfter: text, date: "Sun, 06 Nov 1994 08:48:37 GMT")
        #expect(verdict == .outage(for: .seconds(60)))
        // It is past.
        #expect(Verdict.outage(retryAfter: text) == .outage(for: .zero))
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
        ("Tue, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ])
    func datesAreUnixTimes(_ text: String, _ seconds: Double) { #expect(HeaderTime.date(text) == seconds) }

    @Test func aDateThatIsFarIsNoTrap() {
        let verdict = Verdict.outage(retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(verdict == .outage(for: Self.hundredYears))
        #expect(Verdict.outage(retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT", date: "x") == verdict)
    }

    @Test func rateLimitResetHasSecondsOrAUnixTime() throws {
        #expect(Verdict.outage(rateLimitReset: "30") == .outage(for: .seconds(30)))
        #expect(Verdict.outage(rateLimitReset: "999999999") == .outage(for: .seconds(999_999_999)))
        #expect(Verdict.outage(rateLimitReset: "1000000000") == .outage(for: .zero))
        #expect(Verdict.outage(rateLimitReset: "4611686018427387904") == .outage(for: Self.hundredYears))
        let soon = Date().timeIntervalSince1970 + 3_600
        for text in ["\(Int64(soon))", "\(Int64(soon * 1_000))"] {
            guard case .outage(let time?) = try #require(Verdict.outage(rateLimitReset: text)) else {
                Issue.record("\(text) is no outage")
                continue
            }
            #expect(time <= .seconds(3_600))
            #expect(time > .seconds(3_000))
        }
    }

    @Test(arguments: [
        (Duration.zero, 0), (.milliseconds(1), 1), (.seconds(1), 1), (.milliseconds(1_001), 2), (.seconds(-3), 0),
        (.seconds(Int64.max), .max),
    ])
    func aRefusalRoundsUp(_ time: Duration, _ seconds: Int) {
        #expect(CircuitOpenError(name: "a", retryAfter: time).retryAfterSeconds == seconds)
        #expect(CircuitOpenError(name: "a").retryAfterSeconds == nil)
    }
}
