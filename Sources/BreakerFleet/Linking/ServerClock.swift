#if PostgreSQL
import BreakerStore

/// An estimate of the server's time, from its answers.
///
/// An answer has the time at which the server began, a little after the link sent the statement. The answer that came
/// soonest is the most exact: an operator's word must get no later stamp than what happened a moment after the word.
struct ServerClock {
    private static let most = 10
    /// A larger difference means that a clock was set, because slower answers are not used.
    private static let longestWay = CircuitLink.Settings.onTheWay

    /// How far the server's clock was ahead, by each of the last answers.
    private var offsets: [Int64] = []

    mutating func answered(_ time: Int64, to sent: Int64) {
        let offset = time.subtractingSaturating(sent)
        if let least = self.offsets.min(), offset.subtractingSaturating(least).magnitude > Self.longestWay {
            self.offsets = []
        }
        self.offsets = self.offsets.suffix(Self.most - 1) + [offset]
    }

    /// Nil before the first answer.
    func time(at now: Int64) -> Int64? { self.offsets.min().map { now.addingSaturating($0) } }
}
#endif
