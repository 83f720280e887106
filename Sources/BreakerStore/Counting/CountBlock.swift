/// The words that count the calls through one circuit: they only rise.
///
/// They are on the board, for all processes of the host, or in this process's memory. Calls that count in windows and
/// calls that don't have separate words. So one addition counts how a call ended, and no process can be stopped or
/// killed between two additions that a window needs both.
struct CountBlock: Sendable {
    enum Word: Int {
        case key, succeeded, failed, slow, ignored, refused, lateFailed, lateSlow, lateSucceeded, toldAt, told
        case toldDurations
    }

    let words: SharedWords

    subscript(word: Word) -> UInt64 {
        @inline(__always) get { self.words[word.rawValue] }
    }

    func add(_ count: UInt64, to word: Word) {
        if count > 0 { self.words.add(count, at: word.rawValue) }
    }

    func add(_ counts: LaneCounts) {
        self.add(counts.succeeded, to: .succeeded)
        self.add(counts.ignored, to: .ignored)
        self.add(counts.refused, to: .refused)
        self.add(counts.aside, to: .lateSucceeded)
    }

    /// Whether no process has taken the numbers to tell them to the file within `pause`.
    ///
    /// A time in the future was written before the clock began anew, or is damage.
    func isToTell(at uptime: Int64, pause: Int64) -> Bool {
        let age = uptime &- Int64(bitPattern: self[.toldAt])
        return self[.toldAt] == 0 || age < 0 || age >= pause
    }

    var totals: BlockTotals {
        // A slow call is counted as succeeded or failed first, and as slow then. Read the other way round, no slow call
        // is missing among the succeeded and the failed.
        let slow = self[.slow] &+ self[.lateSlow]
        let failed = self[.failed] &+ self[.lateFailed]
        return BlockTotals(
            succeeded: self[.succeeded] &+ self[.lateSucceeded], failed: failed, slow: slow, ignored: self[.ignored],
            refused: self[.refused])
    }

    /// Takes what the words count, and leaves zeros.
    func takeTotals() -> BlockTotals {
        func take(_ word: Word) -> UInt64 { self.words.take(word.rawValue) }
        // The slow ones first, as above.
        let slow = take(.slow) &+ take(.lateSlow)
        let failed = take(.failed) &+ take(.lateFailed)
        return BlockTotals(
            succeeded: take(.succeeded) &+ take(.lateSucceeded), failed: failed, slow: slow, ignored: take(.ignored),
            refused: take(.refused))
    }

    /// Adds calls that count in totals alone.
    func addLate(_ totals: BlockTotals) {
        self.add(totals.succeeded, to: .lateSucceeded)
        self.add(totals.failed, to: .lateFailed)
        self.add(totals.slow, to: .lateSlow)
        self.add(totals.ignored, to: .ignored)
        self.add(totals.refused, to: .refused)
    }
}
