/// The words that count all calls through one circuit, by how they ended: they only rise.
///
/// On the board, for all processes of the host, or in this process's memory. One line of the cache.
struct TotalsCell: Sendable {
    enum Word: Int {
        /// Behind the two by which a cell is found.
        case succeeded = 2
        case failed, slow, ignored, refused
        /// What all numbers came to when the file was told of them last.
        case told
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
        self.add(counts.succeeded &+ counts.aside, to: .succeeded)
        self.add(counts.ignored, to: .ignored)
        self.add(counts.refused, to: .refused)
    }

    /// Counts a failing or slow end: as slow last, so that no slow call is missing among the others.
    func add(_ end: BadEnd) {
        self.add(1, to: end.isFailed ? .failed : .succeeded)
        if end.isSlow { self.add(1, to: .slow) }
    }

    /// Read the other way round.
    var totals: CellTotals {
        let slow = self[.slow]
        return CellTotals(
            succeeded: self[.succeeded], failed: self[.failed], slow: slow, ignored: self[.ignored],
            refused: self[.refused])
    }

    /// How many ends were failing or slow ones; a number that only rises.
    var bad: UInt64 { self[.failed] &+ self[.slow] }

    /// Whether the file has been told these numbers.
    ///
    /// All of them only rise: another sum means that something has changed.
    func isSaved(_ totals: CellTotals) -> Bool { totals.sum == self[.told] }

    func noteSaved(_ totals: CellTotals) { self.words[Word.told.rawValue] = totals.sum }
}
