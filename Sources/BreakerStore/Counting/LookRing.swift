/// The looks at one circuit's totals by which the sums of a rolling window are known without a clock in each call.
///
/// The store's thread, or the one that counts, writes a look each tick, a sixteenth of the window. A thread that counts
/// a failing or slow end looks before, too. The sums of a window are the totals of now less those of a window ago.
/// Between two looks nobody knows when a call ended: then bad calls count as if they had ended at the earlier look, the
/// others as if at the later one. So a circuit never trips too early.
struct LookRing: Sendable {
    /// Which calls a rule calls bad.
    enum Subject: Sendable {
        /// Failed calls among all calls.
        case failed
        /// Slow calls among all calls.
        case slow
    }

    /// The places of the words in the ring; word 5 is spare.
    enum Place {
        static let claim = 1
        static let number = 2
        /// The epoch and the window of whoever counted last.
        static let epoch = 3
        static let window = 4
        static let looks = 6
        static let reporters = Self.looks + LookRing.count * Look.words
    }

    /// One look for each tick of a window, and two that other threads may be writing just now.
    static let count = 18
    static let words = 128
    /// How many ticks a window has; but no tick is shorter than 10 ms.
    private static let ticks: Int64 = 16
    private static let shortestTick: Int64 = 10_000

    let words: SharedWords
    let block: CountBlock
    let subject: Subject

    /// How often one looks, in microseconds.
    static func tick(of window: Int64) -> Int64 { max(window / Self.ticks, Self.shortestTick) }

    // MARK: - Looking

    /// Notes the epoch and the window for which looks are written from now on; called when an end is being counted.
    func lead(_ epoch: Int64, _ window: Int64) {
        guard !self.isLed(by: epoch, window) else { return }
        self.words[Place.epoch] = UInt64(bitPattern: epoch)
        self.words[Place.window] = UInt64(bitPattern: window)
    }

    private func isLed(by epoch: Int64, _ window: Int64) -> Bool {
        self.words.number(Place.epoch) == epoch && self.words.number(Place.window) == window
    }

    /// Looks if a tick has passed since anybody did, unless nothing has changed for a window.
    ///
    /// A process without calls does not read the file, and may know an epoch or a window that is over. Its looks would
    /// overwrite those that matter. So a process writes looks only for the epoch and the window that `lead` has noted.
    ///
    /// - Parameters:
    ///   - window: in microseconds.
    ///   - clock: the uptime in microseconds.
    /// - Returns: whether anything has changed within the window, as far as this look tells.
    @discardableResult
    func look(epoch: Int64, window: Int64, clock: () -> Int64) -> Bool {
        guard self.isLed(by: epoch, window) else { return false }
        let now = clock()
        guard self.isDue(at: now, window) else { return true }
        let known = self.scan(at: now, epoch: epoch, window: window)
        let (bad, good) = self.totalsForLook()
        if known.oldBad == bad, known.oldGood == good { return false }
        if self.claim(at: now, window) { _ = self.write(epoch: epoch, window: window, clock: clock) }
        return true
    }

    /// Looks before a bad end is counted, so that the window has a look to begin at.
    ///
    /// The thread that counts the end looks itself: a thread that has claimed the look may have been killed. Returns
    /// the uptime of this end.
    func lookBeforeEnd(epoch: Int64, window: Int64, clock: () -> Int64) -> Int64 {
        let now = clock()
        if let first = self.lookFirst(at: now, epoch: epoch, window: window, clock: clock) { return first }
        if self.claim(at: now, window) { _ = self.write(epoch: epoch, window: window, clock: clock) }
        return now
    }

    /// Writes a look if there is none within the window, so that the calls that are counted next are within the window.
    ///
    /// Returns the uptime of the look; nil if there was one already.
    @discardableResult
    func lookFirst(at now: Int64, epoch: Int64, window: Int64, clock: () -> Int64) -> Int64? {
        self.lead(epoch, window)
        guard !self.isNewestRecent(at: now, epoch: epoch, window: window) else { return nil }
        // Before the scan: another thread adds nothing new before its own first look, which the scan would find.
        let totals = self.totalsForLook()
        let known = self.scan(at: now, epoch: epoch, window: window)
        guard !known.hasRecent else { return nil }
        self.words[Place.claim] = UInt64(bitPattern: now)
        if let end = known.endOfStretch(before: now, window) {
            self.append(Look(uptime: end, epoch: epoch, bad: totals.bad, good: totals.good))
        }
        return self.write(epoch: epoch, window: window, clock: clock) ?? now
    }

    /// Whether the look that was written last is within the window.
    ///
    /// Mostly it is, and then no other look need be read.
    private func isNewestRecent(at now: Int64, epoch: Int64, window: Int64) -> Bool {
        let place = Int((self.words[Place.number] &- 1) % UInt64(Self.count))
        guard let look = Look(self.words, at: Place.looks + place * Look.words), look.epoch == epoch else {
            return false
        }
        return look.uptime <= now && look.uptime >= now &- window
    }

    /// A claim from the future was made before the clock began anew, or is damage.
    private func isDue(at now: Int64, _ window: Int64) -> Bool {
        let claim = self.words.number(Place.claim)
        return claim > now || claim < now &- Self.tick(of: window) &+ 1
    }

    private func claim(at now: Int64, _ window: Int64) -> Bool {
        let known = self.words[Place.claim]
        return self.isDue(at: now, window) && self.words.replace(known, with: UInt64(bitPattern: now), at: Place.claim)
    }

    /// Writes a look; returns its uptime, or nil if this thread could not look fast enough.
    ///
    /// A thread that was stopped between the clock and the totals would tell totals that are younger than it says.
    private func write(epoch: Int64, window: Int64, clock: () -> Int64) -> Int64? {
        let most = Self.tick(of: window) / 4
        for _ in 0..<8 {
            let before = clock()
            let (bad, good) = self.totalsForLook()
            guard clock() &- before <= most else { continue }
            self.append(Look(uptime: before, epoch: epoch, bad: bad, good: good))
            return before
        }
        return nil
    }

    private func append(_ look: Look) {
        let number = self.words.add(1, at: Place.number)
        look.write(to: self.words, at: Place.looks + Int(number % UInt64(Self.count)) * Look.words)
    }

    // MARK: - Totals

    /// A look may tell too few good calls and too many bad ones, never the other way round: the bad ones are read last.
    private func totalsForLook() -> (bad: Int64, good: Int64) {
        let succeeded = self.block[.succeeded]
        switch self.subject {
        case .failed: return (Int64(bitPattern: self.block[.failed]), Int64(bitPattern: succeeded))
        case .slow:
            let calls = succeeded &+ self.block[.failed]
            let slow = self.block[.slow]
            return (Int64(bitPattern: slow), Int64(bitPattern: calls &- slow))
        }
    }

    /// The sums of now may have too few bad calls and too many good ones: here the bad ones are read first.
    private func totalsForSums() -> (bad: Int64, good: Int64) {
        switch self.subject {
        case .failed:
            let failed = self.block[.failed]
            return (Int64(bitPattern: failed), Int64(bitPattern: self.block[.succeeded]))
        case .slow:
            let slow = self.block[.slow]
            let calls = self.block[.failed] &+ self.block[.succeeded]
            return (Int64(bitPattern: slow), Int64(bitPattern: calls &- slow))
        }
    }

    /// The good calls that were ever counted, or fewer.
    var goodCallsAtLeast: Int64 { self.totalsForLook().good }

    /// The good calls that were ever counted, or more.
    var goodCallsAtMost: Int64 { self.totalsForSums().good }

    // MARK: - Sums

    /// The sums of the window that ends at `now`; nil if there is no look of this epoch, or the totals are less than
    /// they were.
    func sums(at now: Int64, epoch: Int64, window: Int64) -> WindowSums? {
        let known = self.scan(at: now, epoch: epoch, window: window)
        guard let first = known.first else { return nil }
        if known.endOfStretch(before: now, window) != nil { return WindowSums(bad: 0, good: 0, since: now &- window) }
        let (bad, good) = self.totalsForSums()
        return WindowSums(
            bad: known.recentBad.map { bad &- $0 } ?? 0,
            good: good &- (known.oldGood ?? known.leastGood),
            since: known.oldGood == nil ? first : now &- window)
    }

    /// What the looks of one epoch tell.
    private struct Known {
        /// The least number of bad calls of all looks within the window: totals only rise, so it is that of the first.
        var recentBad: Int64?
        /// The greatest numbers of all looks before the window: those of the last such look.
        var oldBad: Int64?
        var oldGood: Int64?
        /// The least number of good calls of all looks.
        var leastGood = Int64.max
        /// The uptime of the first look, and that of the last one.
        var first: Int64?
        var last: Int64?

        var hasRecent: Bool { self.recentBad != nil }

        /// When at the latest all calls had been added that have been added since the last look; nil if that was within
        /// the window before `now`.
        ///
        /// The last processes may end, or be killed, after they have added calls and before they have looked. Whoever
        /// adds a call after a window without a look looks first: so such calls came within a window of the last look.
        func endOfStretch(before now: Int64, _ window: Int64) -> Int64? {
            self.last.flatMap { $0 <= now &- 2 &* window ? $0 &+ window : nil }
        }
    }

    /// Looks of the future are left out: nobody knows when they were written.
    private func scan(at now: Int64, epoch: Int64, window: Int64) -> Known {
        var known = Known()
        let start = now &- window
        for place in 0..<Self.count {
            guard let look = Look(self.words, at: Place.looks + place * Look.words), look.epoch == epoch,
                look.uptime <= now
            else { continue }
            if look.uptime >= start { known.recentBad = min(known.recentBad ?? .max, look.bad) }
            if look.uptime <= start {
                known.oldBad = max(known.oldBad ?? .min, look.bad)
                known.oldGood = max(known.oldGood ?? .min, look.good)
            }
            known.leastGood = min(known.leastGood, look.good)
            known.first = min(known.first ?? .max, look.uptime)
            known.last = max(known.last ?? .min, look.uptime)
        }
        return known
    }
}
