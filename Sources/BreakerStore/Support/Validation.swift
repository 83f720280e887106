/// Checks the fields of a configuration.
///
/// Each check throws `.invalidConfiguration` with the field, its value and the allowed values.
enum Validation {
    /// Requires 1 to 200 Unicode scalars, as SQLite's `length()` counts them, in a name or label; no control
    /// characters.
    static func text(_ value: String, _ field: String) throws(BreakerStoreError) {
        let allowed = "1 to 200 characters, no control characters"
        let count = value.unicodeScalars.count
        guard count > 0 else { throw Self.error(field, "empty", allowed: allowed) }
        guard count <= 200 else { throw Self.error(field, "\(count) characters long", allowed: allowed) }
        guard !value.unicodeScalars.contains(where: \.isControl) else {
            throw Self.error(field, "\(value.quoted), with a control character", allowed: allowed)
        }
    }

    /// The most bytes of a pattern that SQLite accepts in its default build (https://sqlite.org/limits.html,
    /// SQLITE_MAX_LIKE_PATTERN_LENGTH).
    static let longestPattern = 50_000

    /// Requires a pattern that SQLite accepts: SQLite's error for a longer one would be taken for a broken schema.
    static func pattern(_ value: String) throws(BreakerStoreError) {
        let count = value.utf8.count
        guard count <= Self.longestPattern else {
            throw Self.error("pattern", "\(count) bytes long", allowed: "at most \(Self.longestPattern) bytes")
        }
    }

    static func count(_ value: Int, in range: ClosedRange<Int>, _ field: String) throws(BreakerStoreError) {
        guard range.contains(value) else {
            throw Self.error(field, "\(value)", allowed: "\(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// Requires a finite number in the range; NaN is in no range.
    static func number(_ value: Double, in range: ClosedRange<Double>, _ field: String) throws(BreakerStoreError) {
        guard range.contains(value), value.isFinite else {
            let most = range.upperBound < .greatestFiniteMagnitude ? "to \(range.upperBound)" : "or more, finite"
            throw Self.error(field, "\(value)", allowed: "\(range.lowerBound) \(most)")
        }
    }

    /// Requires a duration that is above 0 (or 0, with `orZero`) once rounded to microseconds, and at most `most`.
    static func duration(
        _ value: Duration, atMost most: Duration = .longestAllowed, orZero: Bool = false, _ field: String
    ) throws(BreakerStoreError) {
        let least: Int64 = orZero ? 0 : 1
        guard let microseconds = value.wholeMicroseconds, microseconds >= least,
            microseconds <= most.saturatingMicroseconds
        else {
            let start = orZero ? "0 or more" : "above 0"
            let end = most == .longestAllowed ? "a hundred years" : most.readable
            throw Self.error(field, value.readable, allowed: "\(start), at most \(end)")
        }
    }

    /// Requires a window of at least 1 ms for a rule that counts calls: a shorter one costs work and is of no use.
    static func window(_ value: Duration, _ field: String) throws(BreakerStoreError) {
        try Self.duration(value, field)
        guard value >= .milliseconds(1) else {
            throw Self.error(field, value.readable, allowed: "a millisecond to a hundred years")
        }
    }

    static func error(_ field: String, _ problem: String, allowed: String) -> BreakerStoreError {
        BreakerStoreError(code: .invalidConfiguration, message: "\(field) is \(problem); allowed: \(allowed)")
    }
}
