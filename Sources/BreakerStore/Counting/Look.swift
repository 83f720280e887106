import CBreakerStore

/// A look at a circuit's totals, kept in a ring: at this uptime, in this epoch of the circuit, the totals were so.
///
/// Each look is true by itself, whichever process wrote it for whichever window. The order of looks in the ring means
/// nothing.
struct Look: Equatable, Sendable {
    static let words = 5

    var uptime: Int64
    var epoch: Int64
    var bad: Int64
    var good: Int64

    init(uptime: Int64, epoch: Int64, bad: Int64, good: Int64) {
        self.uptime = uptime
        self.epoch = epoch
        self.bad = bad
        self.good = good
    }

    /// Nil if a writer was killed in it, is writing just now, or never wrote.
    @inline(__always)
    init?(_ words: SharedWords, at place: Int) {
        self.uptime = words.number(place)
        self.epoch = words.number(place + 1)
        self.bad = words.number(place + 2)
        self.good = words.number(place + 3)
        // The check is of all four words: words of different writers don't pass for one look.
        guard words[place + 4] == self.check else { return nil }
    }

    private var check: UInt64 {
        bs_check(
            UInt64(bitPattern: self.uptime), UInt64(bitPattern: self.epoch), UInt64(bitPattern: self.bad),
            UInt64(bitPattern: self.good))
    }

    func write(to words: SharedWords, at place: Int) {
        words[place + 4] = 0
        words[place] = UInt64(bitPattern: self.uptime)
        words[place + 1] = UInt64(bitPattern: self.epoch)
        words[place + 2] = UInt64(bitPattern: self.bad)
        words[place + 3] = UInt64(bitPattern: self.good)
        words[place + 4] = self.check
    }
}
