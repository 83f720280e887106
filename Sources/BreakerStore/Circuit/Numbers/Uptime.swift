/// An instant of the host's monotonic clock, in microseconds.
///
/// Begins again with each boot. Arithmetic saturates: the board and clocks of users may have any value.
struct Uptime: Hashable, Comparable, Sendable {
    let microseconds: Int64

    static func < (left: Uptime, right: Uptime) -> Bool { left.microseconds < right.microseconds }

    /// Earlier than any other.
    static let min = Uptime(microseconds: .min)

    /// Later than any other: never.
    static let max = Uptime(microseconds: .max)

    func adding(_ microseconds: Int64) -> Uptime {
        Uptime(microseconds: self.microseconds.addingSaturating(microseconds))
    }

    func subtracting(_ microseconds: Int64) -> Uptime {
        Uptime(microseconds: self.microseconds.subtractingSaturating(microseconds))
    }

    /// The time since `earlier`; negative if `earlier` lies ahead.
    func microseconds(since earlier: Uptime) -> Int64 {
        self.microseconds.subtractingSaturating(earlier.microseconds)
    }
}

extension Uptime: ExpressibleByIntegerLiteral {
    init(integerLiteral microseconds: Int64) { self.init(microseconds: microseconds) }
}

extension Uptime: CustomStringConvertible {
    var description: String { "\(self.microseconds)" }
}
