/// The counters of all calls through one circuit, by outcome: they only rise.
///
/// They fill one cache line, on the board for all processes of the host, or in this process's memory.
struct TotalsCell: Sendable {
    enum Word: Int {
        /// Behind the two words of the key.
        case succeeded = 2
        case failed, slow, ignored, refused
        /// The sum of all numbers when they were last saved.
        case saved
    }

    static let words = 8

    let words: SharedWords

    subscript(word: Word) -> UInt64 {
        @inline(__always) get { self.words[word.rawValue] }
    }

    func add(_ count: UInt64, to word: Word) {
        if count > 0 { self.words.add(count, at: word.rawValue) }
    }

    func add(_ counts: LaneCounts) {
        self.add(counts.succeeded &+ counts.outsideWindows, to: .succeeded)
        self.add(counts.ignored, to: .ignored)
        self.add(counts.refused, to: .refused)
    }

    /// Counts a failed or slow call: `slow` last, so that each slow call is already among the succeeded or the failed.
    func add(_ call: CountedFailure) {
        self.add(1, to: call.isFailed ? .failed : .succeeded)
        if call.isSlow { self.add(1, to: .slow) }
    }

    /// Reads `slow` first, so that each slow call is among the succeeded or the failed.
    var totals: CellTotals {
        let slow = self[.slow]
        return CellTotals(
            succeeded: self[.succeeded], failed: self[.failed], slow: slow, ignored: self[.ignored],
            refused: self[.refused])
    }

    /// The failed calls plus the slow calls, so a slow failure counts twice; the number only rises.
    var bad: UInt64 { self[.failed] &+ self[.slow] }

    /// Whether the file has these numbers.
    ///
    /// All of them only rise: another sum means that a number has changed.
    func isSaved(_ totals: CellTotals) -> Bool { totals.sum == self[.saved] }

    func setSaved(_ totals: CellTotals) { self.words[Word.saved.rawValue] = totals.sum }
}
