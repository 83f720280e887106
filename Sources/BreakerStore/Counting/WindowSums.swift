/// The sums of a window, as far as looks at the totals tell them.
struct WindowSums: Equatable, Sendable {
    /// Calls that failed, or were slow: no more than really ended within the window.
    var bad: Int64
    /// The other calls: no fewer than are known to have ended within the window.
    var good: Int64
    /// The uptime at which the window begins: a window ago, or when the circuit's present stretch was first seen.
    var since: Int64

    /// Nil if no program can have counted such numbers.
    init?(bad: Int64, good: Int64, since: Int64) {
        guard bad >= 0, good >= 0, !bad.addingReportingOverflow(good).overflow else { return nil }
        self.bad = bad
        self.good = good
        self.since = since
    }

    var calls: Int64 { self.bad + self.good }
}
