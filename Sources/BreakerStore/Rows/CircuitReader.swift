/// Reads a circuit's columns one by one, and notes those that no version of this library can have written.
struct CircuitReader<Columns: ColumnSource> {
    /// The names of the columns that can't be read.
    private(set) var unreadable: [String] = []

    private let columns: Columns
    private let config: CircuitBreaker.Config?
    private let fallback: Rules

    /// Above every epoch that time and transitions can have led to.
    private static var highestEpoch: Int64 { 1 << 62 }

    /// - Parameter config: has the values of columns that can't be read.
    init(_ columns: Columns, _ config: CircuitBreaker.Config? = nil) {
        self.columns = columns
        self.config = config
        self.fallback = config.map(Rules.init) ?? .defaults
    }

    /// The row; what can't be read has the value that a new circuit would have.
    mutating func circuit() -> CircuitRow {
        let rules = self.rules()
        let since = StoreTime(microseconds: self.integer(14, else: 0))
        let state = self.state()
        let circuit = Circuit(
            rules: rules,
            state: state,
            since: since,
            epoch: self.integer(15, in: 0...Self.highestEpoch, else: 0),
            forgottenUntil: self.optionalInteger(19).map(StoreTime.init(microseconds:)),
            tripsInARow: Int(min(self.integer(18, in: 0...Int64.max, else: 0), 1_000_000)),
            hold: self.hold(),
            lastError: self.optionalText(20)
        )
        return CircuitRow(
            id: self.integer(0, else: 0),
            label: self.label(),
            refusals: Int(self.integer(26, in: 0...Int64.max, else: 0)),
            registered: self.integer(27, else: 0),
            circuit: circuit
        )
    }

    private mutating func rules() -> Rules {
        let times = 1...Duration.longestAllowed.saturatingMicroseconds
        let counts: ClosedRange<Int64> = 1...1_000_000
        return Rules(
            trip: self.trip(times, counts),
            recovery: self.integer(5, in: times, else: self.fallback.recovery),
            multiplier: self.real(6, in: 1...Double.greatestFiniteMagnitude, else: self.fallback.multiplier),
            cap: self.integer(7, in: times, else: self.fallback.cap),
            jitter: self.real(8, in: 0...1, else: self.fallback.jitter),
            probeLimit: Int(self.integer(9, in: counts, else: Int64(self.fallback.probeLimit))),
            successesToClose: Int(self.integer(10, in: counts, else: Int64(self.fallback.successesToClose))),
            lease: self.integer(11, in: times, else: self.fallback.lease),
            minimumReporters: Int(self.integer(12, in: counts, else: Int64(self.fallback.minimumReporters)))
        )
    }

    /// A rule is read as a whole: half of one would be another rule.
    private mutating func trip(_ times: ClosedRange<Int64>, _ counts: ClosedRange<Int64>) -> Rules.Trip {
        let known = self.unreadable.count
        let word = self.text(2)
        let count = Int(self.integer(3, in: counts, else: 1))
        let window = self.integer(4, in: (word == "failures" ? 1 : 0)...times.upperBound, else: 1)
        let trip: Rules.Trip
        switch word {
        case "failures": trip = .failures(count, window: window)
        case "consecutive": trip = .consecutiveFailures(count)
        default:
            trip = .unknown(word, count: count, window: window)
            if !StoredWord.mayBeOfALaterVersion(word, besides: ["failures", "consecutive"]) { self.note(2) }
        }
        return self.unreadable.count == known ? trip : self.fallback.trip
    }

    private mutating func state() -> Circuit.State {
        let word = self.text(13)
        let until = self.optionalInteger(16)
        let successes = Int(min(self.integer(17, in: 0...Int64.max, else: 0), 1_000_000))
        switch (word, until) {
        case ("closed", nil): return .closed
        case ("open", let until?): return .open(until: StoreTime(microseconds: until))
        case ("half-open", nil): return .halfOpen(successes: successes)
        case ("closed", _), ("open", _), ("half-open", _): self.note(16)
        default:
            if StoredWord.mayBeOfALaterVersion(word, besides: ["closed", "open", "half-open"]) {
                return .unknown(word, until: until.map(StoreTime.init(microseconds:)))
            }
            self.note(13)
        }
        return .closed
    }

    private mutating func hold() -> Circuit.Hold? {
        let by = self.optionalText(24)
        let reason = self.optionalText(25)
        let until = self.optionalInteger(23)
        guard let word = self.optionalText(21) else {
            if !self.columns.isNull(22) { self.note(22) }
            return nil
        }
        guard let state = HoldState(rawValue: word) else {
            self.note(21)
            return nil
        }
        guard let since = self.columns.typedInteger(22) else {
            self.note(22)
            return nil
        }
        return Circuit.Hold(
            state: state,
            since: StoreTime(microseconds: since),
            until: until.map(StoreTime.init(microseconds:)),
            by: by,
            reason: reason
        )
    }

    private mutating func label() -> String? {
        let known = self.unreadable.count
        let label = self.optionalText(1)
        return self.unreadable.count == known ? label : self.config?.group
    }

    // MARK: - One column

    private mutating func note(_ place: Int32) {
        let name = CircuitRow.columnNames[Int(place)]
        if !self.unreadable.contains(name) { self.unreadable.append(name) }
    }

    private mutating func integer(
        _ place: Int32, in range: ClosedRange<Int64> = Int64.min...Int64.max, else substitute: Int64
    ) -> Int64 {
        if let value = self.columns.typedInteger(place), range.contains(value) { return value }
        self.note(place)
        return substitute
    }

    private mutating func real(
        _ place: Int32, in range: ClosedRange<Double>, else substitute: Double
    ) -> Double {
        if let value = self.columns.typedReal(place), range.contains(value) { return value }
        self.note(place)
        return substitute
    }

    private mutating func text(_ place: Int32) -> String {
        if let value = self.columns.typedText(place) { return value }
        self.note(place)
        return ""
    }

    private mutating func optionalInteger(_ place: Int32) -> Int64? {
        if let value = self.columns.typedInteger(place) { return value }
        if !self.columns.isNull(place) { self.note(place) }
        return nil
    }

    private mutating func optionalText(_ place: Int32) -> String? {
        if let value = self.columns.typedText(place) { return value }
        if !self.columns.isNull(place) { self.note(place) }
        return nil
    }
}

/// Words in a row that this version does not know.
enum StoredWord {
    /// A flipped bit changes one letter, or makes of the word what is none.
    private static let mostLettersOfAnAccident = 2
    private static let longest = 40

    /// Whether a later version may have written the word; else an accident has made it of a known one, or nobody has
    /// written it.
    static func mayBeOfALaterVersion(_ word: String, besides known: [String]) -> Bool {
        let letters = Array(word.utf8)
        let isWord =
            (1...Self.longest).contains(letters.count)
            && letters.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
        let isAlmostKnown = known.contains { one in
            one.utf8.count == letters.count
                && zip(one.utf8, letters).count { $0 != $1 } <= Self.mostLettersOfAnAccident
        }
        return isWord && !isAlmostKnown
    }
}
