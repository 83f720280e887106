/// The calls of one rule's window: for each tick the bad calls, and the good calls.
///
/// One compare-and-swap adds to a tick's word, or begins the word again for a newer tick: no process can be killed or
/// stopped in between. A word never goes back to an older tick.
struct Ring: Sendable {
    private enum Place {
        /// All good calls that were ever added.
        static let goodEver = 0
        static let bad = 1
        static let good = Self.bad + WindowTicks.places
    }

    static let words = Place.good + WindowTicks.places

    let words: SharedWords
    let ticks: WindowTicks

    // MARK: - Adding

    /// Adds good calls in a tick, unless the word already has a newer tick; `goodEver` counts them in any case.
    func addGood(_ count: UInt64, at tick: UInt64) {
        _ = self.add(count, to: Place.good, at: tick)
        // The window first, then this number. A thread that reads them in the opposite order misses no call: a call
        // that it does not find in the window still raises this number.
        self.words.add(count, at: Place.goodEver)
    }

    /// Adds a bad end in a tick; returns false if the word already has a newer tick.
    func addBad(at tick: UInt64) -> Bool { self.add(1, to: Place.bad, at: tick) }

    private func add(_ count: UInt64, to place: Int, at tick: UInt64) -> Bool {
        let place = place + Int(tick % UInt64(WindowTicks.places))
        while true {
            let known = TickWord(raw: self.words[place])
            let behind = known.raw == 0 ? 1 : known.ticksBehind(tick)
            if behind < 0 { return false }
            Hook.reached("ring.adding")
            let number = (behind == 0 ? known.number : 0) + min(count, TickWord.greatestNumber)
            if self.words.replace(known.raw, with: TickWord(tick: tick, number: number).raw, at: place) { return true }
        }
    }

    // MARK: - Summing up

    /// All good calls that were ever added, including those that were too late for their word.
    var goodEver: Int64 { self.words.number(Place.goodEver) }

    /// The calls of the window that ends in a tick, and whether there are words of the future.
    ///
    /// If a tick ends during the read, words are overwritten: the caller compares the ticks before and after, and reads
    /// again.
    func sums(at tick: UInt64) -> (calls: WindowCount, hasFuture: Bool) {
        var hasFuture = false
        func sum(from place: Int) -> Int64 {
            var sum: UInt64 = 0
            for place in place..<place + WindowTicks.places {
                let word = TickWord(raw: self.words[place])
                if self.ticks.contains(word, at: tick) { sum += word.number }
                if word.isOfTheFuture(tick) { hasFuture = true }
            }
            return Int64(sum)
        }
        let bad = sum(from: Place.bad)
        Hook.reached("ring.summing")
        let good = sum(from: Place.good)
        return (WindowCount(calls: bad + good, bad: bad), hasFuture)
    }

    // MARK: - Damage

    /// Clears words that are too far ahead to be of this boot, clock and window generation; returns whether there were
    /// any.
    ///
    /// Such words are damage, or come from a file that an older copy has replaced. While such a word is ahead of now,
    /// no call can be added at its place. A word of the circuit's next window generation looks the same, but is good.
    /// So the word is read first, then the file is asked whether this window generation still lasts, and the clock is
    /// read: if the window generation lasts, the word is damage.
    ///
    /// - Parameter now: asks the file whether the window generation lasts; returns the present tick if it does.
    func dropTheFuture(_ now: () -> UInt64?) -> Bool {
        var isAny = false
        for place in Place.bad..<Self.words {
            let word = TickWord(raw: self.words[place])
            guard word.raw != 0, let tick = now(), word.isOfTheFuture(tick) else { continue }
            if self.words.replace(word.raw, with: 0, at: place) { isAny = true }
        }
        return isAny
    }
}
