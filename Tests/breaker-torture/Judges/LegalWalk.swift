/// What the history of one circuit tells: a walk of the machine, in periods from one event to the next.
///
/// The walk is written from the design, and shares no line with the library. Each step must be legal by itself, and the
/// last one must lead to what the circuit's row says.
struct LegalWalk {
    /// What the steps depend on; times in microseconds.
    struct Rules: Equatable {
        /// So many failures trip.
        var failures: Int
        var recovery: Int64
        var multiplier = 1.0
        var cap: Int64 = 600_000_000
        var lease: Int64

        func recovery(afterTrips trips: Int) -> Int64 {
            var time = Double(self.recovery)
            let most = Double(max(self.cap, self.recovery))
            for _ in 0..<trips where time < most { time *= self.multiplier }
            return Int64(min(time, most))
        }
    }

    enum Base: String {
        case closed, open
        case halfOpen = "half-open"
    }

    /// From one event to the next.
    struct Period {
        var start: Int64
        var end: Int64 = .max
        /// When the circuit came to be in this state.
        var since: Int64 = .min
        /// Its event is surely committed by then: until that, those who only look see what was before.
        var isSeenFrom: Int64 = .min
        var base: Base
        /// The time from which an open circuit lets calls through again; nil if the history does not say.
        var openUntil: Int64?
        var hold: String?
        /// Whether the circuit tripped by itself, and not by a link's order.
        var isOwnTrip = false
        /// How often it opened since it was last closed; nil if the history does not say.
        var tripsInARow: Int? = 0
        /// The failures that count are those of one number: each reset, and each closing, begins another.
        var counting = 0
        /// Whether the circuit was forgotten: whoever comes next makes a new one.
        var isGone = false
        var event: StoreFile.Event?

        var counts: Bool { self.base == .closed && self.hold == nil }
        var word: String { self.hold.map { "held-\($0)" } ?? self.base.rawValue }
    }

    /// Nil if the row can't be read, or other rules were in force before.
    let rules: Rules?
    /// Whether links order the circuit about: they change times and epochs without an event.
    let isLinked: Bool
    /// Whether the first event of the circuit is known: a file may keep only the newest.
    let isWhole: Bool
    /// No circuit that was made by now began with a later epoch, unless its time was later.
    let epochFloor: Int64
    var periods: [Period]
    /// The event by which each counting tripped, if it did.
    var trips: [Int: StoreFile.Event] = [:]
    /// In which the circuit's epoch is; nil if nothing is known of it.
    var epochs: ClosedRange<Int64>?
    /// How many epochs have begun since the circuit was made.
    var changes: Int64 = 0
    /// How many events of each kind there are since then.
    var kinds: [String: Int] = [:]
    var violations: [String] = []

    /// - Parameters:
    ///   - events: those of one circuit.
    ///   - seenFrom: when an event is surely committed.
    init(
        _ events: [StoreFile.Event], _ rules: Rules?, isWhole: Bool = true, isLinked: Bool = false,
        epochFloor: Int64 = 0, seenFrom: (StoreFile.Event) -> Int64 = { $0.at }
    ) {
        let wasConfigured = events.contains { $0.kind == "configured" }
        self.rules = wasConfigured ? nil : rules
        self.isLinked = isLinked
        self.isWhole = isWhole
        self.epochFloor = epochFloor
        self.periods = [Period(start: .min, base: .closed)]
        var events = events[...]
        if !isWhole {
            // What lies beneath a hold is not known before the hold's end.
            let first = events.firstIndex { $0.becomes.flatMap(Base.init(rawValue:)) != nil } ?? events.endIndex
            if first < events.endIndex, let base = events[first].becomes.flatMap(Base.init(rawValue:)) {
                self.periods = [Period(start: events[first].at, base: base, tripsInARow: nil, event: events[first])]
            }
            events = events.dropFirst(first - events.startIndex + 1)
        }
        for event in events { self.take(event, seenFrom: seenFrom(event)) }
    }

    var last: Period { self.periods[self.periods.count - 1] }

    // MARK: - Periods

    func period(at time: Int64) -> Period { self.periods.last { $0.start <= time } ?? self.periods[0] }

    /// The places of the periods that touch a span of time.
    func periods(from start: Int64, to end: Int64) -> Range<Int> {
        var low = 0
        var high = self.periods.count
        // The first that has not ended before the start.
        while low < high {
            let middle = (low + high) / 2
            if self.periods[middle].end < start { low = middle + 1 } else { high = middle }
        }
        var after = low
        while after < self.periods.count, self.periods[after].start <= end { after += 1 }
        return low..<after
    }

    /// The period that surely was that of a span of time.
    func period(around start: Int64, _ end: Int64) -> Period? {
        let touched = self.periods(from: start, to: end)
        guard touched.count == 1, let index = touched.first else { return nil }
        let period = self.periods[index]
        return period.isSeenFrom < start && end < period.end ? period : nil
    }
}
