#if PostgreSQL
import BreakerStore

/// An estimate of the server's time, from its answers.
///
/// An answer has the time at which the server began the statement, a little after the link sent it. The least offset
/// comes from the fastest of the last answers, and is the most exact. The estimate must not be late: a command must not
/// get a later stamp than an event that followed it.
struct ServerClock {
    private static let maxOffsets = 10
    /// A larger difference means that a clock was set, because slower answers are not used.
    private static let maxDifference = CircuitLink.Settings.onTheWay

    /// How far the server's clock was ahead of this link's, according to each of the last answers.
    private var offsets: [Int64] = []

    /// Records the server's time in the answer to a statement that was sent at `sent`.
    mutating func answered(_ time: Int64, to sent: Int64) {
        let offset = time.subtractingSaturating(sent)
        if let least = self.offsets.min(), offset.subtractingSaturating(least).magnitude > Self.maxDifference {
            self.offsets = []
        }
        self.offsets = self.offsets.suffix(Self.maxOffsets - 1) + [offset]
    }

    /// The server's time at `now`; nil before the first answer.
    func time(at now: Int64) -> Int64? { self.offsets.min().map { now.addingSaturating($0) } }
}
#endif
