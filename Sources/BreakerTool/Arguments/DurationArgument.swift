import BreakerStore

/// A duration as people type it, such as `90s` or `1.5h`.
package enum DurationArgument {
    private static let units: [(suffix: String, duration: Duration)] = [
        ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3_600)),
        ("d", .seconds(86_400)),
    ]
    /// A hundred years, in seconds.
    private static let longest = 100.0 * 365 * 86_400

    /// The duration of an option, which is above zero.
    package static func parse(_ text: String, for option: Option) throws(Failure) -> Duration {
        if let seconds = Self.seconds(text), seconds > 0, seconds <= Self.longest { return .seconds(seconds) }
        throw .usage(
            "option '\(option.spelling)' takes a duration, not \(text.quoted)",
            hint: "write a number and one of ms, s, m, h, d, such as 90s or 1.5h, above zero, and below 100 years"
        )
    }

    /// The duration, a hundred years at most; nil for a text of another form.
    package static func duration(_ text: String) -> Duration? {
        Self.seconds(text).map { .seconds(min($0, Self.longest)) }
    }

    private static func seconds(_ text: String) -> Double? {
        for (suffix, unit) in Self.units where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.utf8.count)
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits)
            else { continue }
            return number * (unit / .seconds(1))
        }
        return nil
    }
}
