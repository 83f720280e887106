/// A rolling window of one rule: for each tick, a bucket of bad calls and a bucket of good calls.
///
/// A bucket is one word, its tick and its count. One compare-and-swap adds to it, or restarts it for a newer tick: no
/// process can be killed or stopped in between. A bucket never goes back to an older tick.
struct Ring: Sendable {
    private enum Index {
        /// How many good calls were ever added.
        static let goodEver = 0
        static let bad = 1
        static let good = Self.bad + WindowTicks.bucketsOfARing
    }

    static let words = Index.good + WindowTicks.bucketsOfARing

    let words: SharedWords
    let ticks: WindowTicks

    // MARK: - Adding

    /// Adds good calls in a tick, unless the bucket already has a newer tick; `goodEver` counts them in any case.
    ///
    /// With a newer tick there, the calls are out of the window by now; or the tick is damage, which is cleared when
    /// the sums of a later bad call meet it. A rejected bad call is tried again after that, because it decides.
    func addGood(_ count: UInt64, at tick: UInt64) {
        _ = self.add(count, to: Index.good, at: tick)
        // The order matters: the window first, then this number. A thread that reads them in the opposite order misses
        // no call: a call that it does not find in the window still raises this number after the thread has read it.
        self.words.add(count, at: Index.goodEver)
    }

    /// Adds a bad call in a tick; returns false if the bucket already has a newer tick.
    func addBad(at tick: UInt64) -> Bool { self.add(1, to: Index.bad, at: tick) }

    private func add(_ count: UInt64, to start: Int, at tick: UInt64) -> Bool {
        let index = start + Int(tick % UInt64(WindowTicks.bucketsOfARing))
        while true {
            let known = TickWord(raw: self.words[index])
            let behind = known.raw == 0 ? 1 : known.ticks(behind: tick)
            if behind < 0 { return false }
            Hook.reached("ring.adding")
            let number = (behind == 0 ? known.number : 0) + min(count, TickWord.greatestNumber)
            if self.words.replace(known.raw, with: TickWord(tick: tick, number: number).raw, at: index) { return true }
        }
    }

    // MARK: - Summing up

    /// How many good calls were ever added, including those that were too late for their bucket.
    var goodEver: Int64 { self.words.number(Index.goodEver) }

    /// The calls of the window that ends in a tick, and whether a bucket has a tick too far in the future.
    ///
    /// If a tick ends during the read, buckets are overwritten: the caller compares the ticks before and after, and
    /// reads again.
    func sums(at tick: UInt64) -> (calls: WindowCount, hasFutureTicks: Bool) {
        var hasFutureTicks = false
        func sum(from start: Int) -> Int64 {
            var sum: UInt64 = 0
            for index in start..<start + WindowTicks.bucketsOfARing {
                let word = TickWord(raw: self.words[index])
                if self.ticks.contains(word, at: tick) { sum += word.number }
                if word.isTooFarAhead(of: tick) { hasFutureTicks = true }
            }
            return Int64(sum)
        }
        // Bad calls first: a call that is added in between can then only lower the rate.
        let bad = sum(from: Index.bad)
        Hook.reached("ring.summing")
        let good = sum(from: Index.good)
        return (WindowCount(calls: bad + good, bad: bad), hasFutureTicks)
    }

    // MARK: - Damage

    /// Clears buckets whose tick is too far ahead to be of this boot, clock and window generation; returns whether
    /// there were any.
    ///
    /// Such buckets are damage, or come from a file that an older copy has replaced. While the tick of a bucket is
    /// ahead, no call can be added to it. A bucket of the circuit's next window generation looks the same, but is
    /// valid. So the bucket is read first; then the file is asked whether this window generation still lasts, and the
    /// clock is read. If the window generation lasts, the bucket is damage.
    ///
    /// - Parameter currentTick: asks the file whether the window generation lasts; returns the current tick if it does.
    func clearCorruptFutureTicks(currentTick: () -> UInt64?) -> Bool {
        var hasCleared = false
        for index in Index.bad..<Self.words {
            let word = TickWord(raw: self.words[index])
            guard word.raw != 0, let tick = currentTick(), word.isTooFarAhead(of: tick) else { continue }
            if self.words.replace(word.raw, with: 0, at: index) { hasCleared = true }
        }
        return hasCleared
    }
}
