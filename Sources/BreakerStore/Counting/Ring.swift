/// The calls of one rule's window: for each tick how many were bad, and how many good.
///
/// One addition counts an end, or begins the word anew for its tick, so that no process can be killed or stopped in
/// between. A word never goes back to an older tick.
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

    /// Adds good calls in the present tick; calls of a stretch that is over are left out.
    func addGood(_ count: UInt64, inStretch stretch: Int64, _ clock: () -> Int64) {
        guard count > 0 else { return }
        _ = self.add(count, to: Place.good, at: self.ticks.tick(at: clock(), inStretch: stretch))
        // Last: whoever reads this number before the window's words misses no call in both.
        self.words.add(count, at: Place.goodEver)
    }

    /// Adds a bad end in the present tick, unless its stretch is over by now.
    ///
    /// - Parameter isPresent: looks at the file, whether the stretch is still the circuit's.
    func addBad(inStretch stretch: Int64, _ clock: () -> Int64, isPresent: () -> Bool) {
        while !self.add(1, to: Place.bad, at: self.ticks.tick(at: clock(), inStretch: stretch)) {
            guard self.dropTheFuture(inStretch: stretch, clock, isPresent) else { return }
        }
    }

    /// Returns false if a newer word is in the way.
    private func add(_ count: UInt64, to place: Int, at tick: UInt64) -> Bool {
        let place = place + Int(tick % UInt64(WindowTicks.places))
        while true {
            let known = TickWord(raw: self.words[place])
            let behind = known.raw == 0 ? 1 : known.ticksBehind(tick)
            if behind < 0 { return false }
            Hook.reached("ring.adding")
            let next = TickWord(tick: tick, number: (behind == 0 ? known.number : 0) + min(count, TickWord.greatestNumber))
            if self.words.replace(known.raw, with: next.raw, at: place) { return true }
        }
    }

    // MARK: - Summing up

    /// All good calls that were ever added.
    var goodEver: Int64 { self.words.number(Place.goodEver) }

    /// The calls of the window that ends now; nil if ticks end faster than this thread can read.
    ///
    /// The first words may be of another tick by the time that the last ones are read: then all are read again.
    func sums(inStretch stretch: Int64, _ clock: () -> Int64, isPresent: () -> Bool) -> CallCounts? {
        for _ in 0..<8 {
            let tick = self.ticks.tick(at: clock(), inStretch: stretch)
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
            if hasFuture, self.dropTheFuture(inStretch: stretch, clock, isPresent) { continue }
            if self.ticks.tick(at: clock(), inStretch: stretch) == tick { return CallCounts(calls: bad + good, bad: bad) }
        }
        return nil
    }

    // MARK: - Damage

    /// Clears words that nobody can have written; returns whether there were any.
    ///
    /// Such words are damage, or of a file that an older copy has replaced. They would keep new calls out for as long
    /// as they lie ahead. A word of the circuit's next stretch lies ahead, too: so the file is asked, and the clock read
    /// again, after the word was.
    private func dropTheFuture(inStretch stretch: Int64, _ clock: () -> Int64, _ isPresent: () -> Bool) -> Bool {
        var isAny = false
        for place in Place.bad..<Self.words {
            let word = TickWord(raw: self.words[place])
            func isOfTheFuture() -> Bool {
                word.isOfTheFuture(self.ticks.tick(at: clock(), inStretch: stretch))
            }
            guard isOfTheFuture(), isPresent(), isOfTheFuture() else { continue }
            if self.words.replace(word.raw, with: 0, at: place) { isAny = true }
        }
        return isAny
    }
}
