/// Counts of the calls that neither failed nor were slow, since the lanes were last emptied.
struct LaneCounts: Equatable, Sendable {
    /// The words of a lane that count; the raw value is the word's place in the lane.
    enum Word: Int32 {
        case succeeded, ignored, refused
        /// Calls that went well and count in totals only: probes, and calls that no closed circuit let through.
        case aside
    }

    /// How many words of a lane count.
    static let words = 4

    var succeeded: UInt64 = 0
    var ignored: UInt64 = 0
    var refused: UInt64 = 0
    var aside: UInt64 = 0

    var sum: UInt64 { self.succeeded &+ self.ignored &+ self.refused &+ self.aside }

    mutating func take(from lane: SharedWords) {
        self.succeeded &+= lane.take(Int(Word.succeeded.rawValue))
        self.ignored &+= lane.take(Int(Word.ignored.rawValue))
        self.refused &+= lane.take(Int(Word.refused.rawValue))
        self.aside &+= lane.take(Int(Word.aside.rawValue))
    }
}
