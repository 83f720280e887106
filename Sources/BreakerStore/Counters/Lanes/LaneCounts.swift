/// Counts of the calls that neither failed nor were slow, since the lanes were last drained.
struct LaneCounts: Equatable, Sendable {
    /// The counters of a lane; the raw value is the word's index in the lane.
    enum Word: Int32 {
        case succeeded, ignored, refused
        /// Successes that count in totals only: of probes, and of calls that no closed circuit let through.
        case outsideWindows
    }

    /// How many words of a lane are counters.
    static let words = 4

    var succeeded: UInt64 = 0
    var ignored: UInt64 = 0
    var refused: UInt64 = 0
    var outsideWindows: UInt64 = 0

    var sum: UInt64 { self.succeeded &+ self.ignored &+ self.refused &+ self.outsideWindows }

    mutating func drain(_ lane: SharedWords) {
        self.succeeded &+= lane.drain(Int(Word.succeeded.rawValue))
        self.ignored &+= lane.drain(Int(Word.ignored.rawValue))
        self.refused &+= lane.drain(Int(Word.refused.rawValue))
        self.outsideWindows &+= lane.drain(Int(Word.outsideWindows.rawValue))
    }
}
