#if PostgreSQL
import BreakerStore

/// The server's time, as far as its answers tell.
///
/// An answer has the time at which the server began, a little after the question was sent. Of several answers the one
/// that came soonest tells most: a word of a person must be no later than what happened a moment after it.
struct ServerClock {
    private static let most = 10
    /// Answers that took longer are not used, so a larger difference is a clock that was set.
    private static let longestWay = CircuitLink.Settings.onTheWay

    /// How far the server was ahead, by each of the last answers.
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
