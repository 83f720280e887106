/// Divides a rolling window into ticks, as a ring counts them: one bucket for each tick.
///
/// A window has sixteen ticks, or fewer of 10 ms each.
struct WindowTicks: Equatable, Sendable {
    /// How many buckets a ring has of each kind: for the sixteen ticks of a window, and for the tick that has just
    /// begun.
    static let bucketsOfARing = 17
    private static let maxTicks: Int64 = 16
    private static let shortestTick: Int64 = 10_000
    /// How far a transition moves the tick numbers ahead.
    ///
    /// It is 17, a whole ring, so that all older buckets are out of the window even if no time passes; and 1 more,
    /// because two processes may read their clocks a tick apart.
    private static let perGeneration: UInt64 = 18

    /// In microseconds.
    let length: Int64
    /// How many ticks the window has.
    let count: Int64

    /// - Parameter window: in microseconds.
    init(window: Int64) {
        func roundedUp(_ time: Int64, dividedBy part: Int64) -> Int64 { time / part + (time % part > 0 ? 1 : 0) }
        self.length = max(roundedUp(window, dividedBy: Self.maxTicks), Self.shortestTick)
        self.count = roundedUp(window, dividedBy: self.length)
    }

    /// The number of a tick: it rises with time, and with each transition of the circuit.
    ///
    /// So the commit of a transition alone makes all older buckets of a ring stale: no process has to clear them.
    func tick(at uptime: Uptime, inGeneration windowGeneration: WindowGeneration) -> UInt64 {
        let tick =
            UInt64(bitPattern: uptime.microseconds / self.length)
            &+ Self.perGeneration &* UInt64(bitPattern: windowGeneration.rawValue)
        return tick & TickWord.lastTick
    }

    /// Whether a bucket belongs to the window that ends in this tick.
    ///
    /// The clock of another process may be a tick ahead.
    func contains(_ word: TickWord, at tick: UInt64) -> Bool {
        guard word.raw != 0 else { return false }
        let behind = word.ticks(behind: tick)
        return behind >= -1 && behind <= self.count
    }
}

/// A tick, and a number that belongs to it, in one word, so that one compare-and-swap changes both.
struct TickWord: Equatable, Sendable {
    /// The lowest bits are the number, the others the tick.
    private static let numberBits: UInt64 = 28
    static let greatestNumber: UInt64 = (1 << Self.numberBits) - 1
    static let lastTick = UInt64.max >> Self.numberBits

    /// 0 if nothing was written yet.
    let raw: UInt64

    init(raw: UInt64) { self.raw = raw }

    /// A number that is too great becomes the greatest.
    init(tick: UInt64, number: UInt64) { self.raw = tick << Self.numberBits | min(number, Self.greatestNumber) }

    var number: UInt64 { self.raw & Self.greatestNumber }

    /// How many ticks the word is older than `tick`; below zero if it is newer.
    ///
    /// Ticks are numbers of 36 bits, which wrap around: shifted to the top of the word, their difference gets the right
    /// sign.
    func ticks(behind tick: UInt64) -> Int64 {
        Int64(bitPattern: (tick &- (self.raw >> Self.numberBits)) << Self.numberBits) >> Int64(Self.numberBits)
    }

    /// Whether the word is more than one tick ahead of `tick`.
    ///
    /// No process with this clock and window generation writes such a word: two clocks may differ by one tick.
    func isTooFarAhead(of tick: UInt64) -> Bool { self.raw != 0 && self.ticks(behind: tick) < -1 }
}
