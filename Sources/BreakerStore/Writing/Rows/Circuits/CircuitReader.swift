/// Reads a circuit's row, into which any program may have written anything.
///
/// Each function returns a value that a program of this library can have written, or marks the whole row as unreadable.
struct CircuitReader {
    private let columns: Row
    /// Whether no later version has had the file, so that any unknown rule, mode or state is damage.
    private let knowsAllWords: Bool
    private var isReadable = true

    /// Above every epoch that time and transitions can reach.
    private static var highestEpoch: Int64 { 1 << 62 }
    private static var times: ClosedRange<Int64> { 1...Duration.longestAllowed.saturatingMicroseconds }
    private static var counts: ClosedRange<Int64> { 1...1_000_000 }
    /// On the board a circuit's birth is the key of its cell; the bit 2^62 marks another cell of the same circuit.
    private static var births: ClosedRange<Int64> { 1...(1 << 62) - 1 }
    private static var naturals: ClosedRange<Int64> { 0...Int64.max }
    private static var all: ClosedRange<Int64> { Int64.min...Int64.max }

    init(_ columns: Row, knowsAllWords: Bool) {
        self.columns = columns
        self.knowsAllWords = knowsAllWords
    }

    /// The row; nil if it can't be read.
    var row: CircuitRow? {
        var reader = self
        let row = reader.readRow()
        return reader.isReadable ? row : nil
    }

    private mutating func readRow() -> CircuitRow {
        var circuit = Circuit(
            rules: self.rules(), state: self.hasUnknownHold ? .unknown(self.text(.state), until: nil) : self.state(),
            since: StoreTime(microseconds: self.integer(.since)),
            epoch: self.integer(.epoch, in: 0...Self.highestEpoch),
            forgottenUntil: self.optionalTime(.forgottenUntil),
            tripsInARow: self.count(.trips, in: Self.naturals, most: Self.counts.upperBound),
            hold: self.hold(), lastError: self.optionalText(.lastError))
        circuit.stretch = self.integer(.stretch, in: Self.naturals)
        circuit.trippedSince = self.optionalTime(.outageSince)
        circuit.trip = circuit.trippedSince.map { _ in
            Circuit.Trip(
                reason: self.optionalText(.tripReason), failed: self.optionalInteger(.tripFailed),
                calls: self.optionalInteger(.tripCalls))
        }
        return CircuitRow(
            id: self.integer(.id), birth: self.integer(.birth, in: Self.births), label: self.optionalText(.label),
            outageCap: self.integer(.outageCap, in: Self.times), registered: self.integer(.registered),
            stretchBegan: self.badAndRefused(.stretchFailed, .stretchRefused),
            outageBegan: self.badAndRefused(.outageFailed, .outageRefused), failures: self.failures(), circuit: circuit)
    }

    // MARK: - Rules

    private mutating func rules() -> Rules {
        Rules(
            trip: self.trip(), slow: self.slow(), recovery: self.integer(.recovery, in: Self.times),
            multiplier: self.real(.multiplier, in: 1...Double.greatestFiniteMagnitude),
            cap: self.integer(.cap, in: Self.times), jitter: self.real(.jitter, in: 0...1),
            probeLimit: self.count(.probeLimit, in: Self.counts),
            successesToClose: self.count(.probeSuccesses, in: Self.counts),
            lease: self.integer(.probeLease, in: Self.times),
            minimumReporters: self.count(.minimumReporters, in: Self.counts), isObserving: self.isObserving())
    }

    private mutating func trip() -> Rules.Trip {
        let word = self.text(.rule)
        // Under a mode of a later version, this version does not know when the circuit trips.
        let hasKnownMode = self.knowsAllWords || ["enforcing", "observing"].contains(self.columns.typedText(.mode))
        let count = self.count(.ruleCount, in: Self.counts)
        let isWindowless = word != "failures" && word != Rules.Trip.rate
        let window = self.integer(.ruleWindow, in: (isWindowless ? 0 : 1)...Self.times.upperBound)
        guard hasKnownMode else { return .unknown(word, count: count, window: window) }
        switch word {
        case "failures": return .failures(count, window: window)
        case "consecutive": return .consecutiveFailures(count)
        case Rules.Trip.rate:
            return .failureRate(CallShare(share: self.share(.ruleShare), minimumCalls: count), window: window)
        default:
            if self.knowsAllWords { self.isReadable = false }
            return .unknown(word, count: count, window: window)
        }
    }

    private mutating func slow() -> Rules.Slow? {
        guard !self.columns.isNull(.slowThreshold) else { return nil }
        return Rules.Slow(
            threshold: self.integer(.slowThreshold, in: Self.times),
            share: CallShare(
                share: self.share(.slowShare), minimumCalls: self.count(.slowCount, in: Self.counts)),
            window: self.integer(.slowWindow, in: Self.times))
    }

    private mutating func share(_ column: CircuitColumn) -> Double {
        self.real(column, in: Double.leastNonzeroMagnitude...1)
    }

    private mutating func isObserving() -> Bool {
        switch self.text(.mode) {
        case "observing": return true
        case "enforcing": return false
        default:
            if self.knowsAllWords { self.isReadable = false }
            return false
        }
    }

    // MARK: - State

    private mutating func state() -> Circuit.State {
        let word = self.text(.state)
        let until = self.optionalTime(.openUntil)
        let successes = self.count(.successes, in: Self.naturals, most: Self.counts.upperBound)
        switch (word, until) {
        case ("closed", nil): return .closed
        case ("open", let until?): return .open(until: until)
        case ("half-open", nil): return .halfOpen(successes: successes)
        case ("closed", _), ("open", _), ("half-open", _):
            self.isReadable = false
            return .closed
        default:
            if self.knowsAllWords { self.isReadable = false }
            return .unknown(word, until: until)
        }
    }

    /// Whether a later version has written a hold whose effect on calls this version does not know.
    private var hasUnknownHold: Bool {
        !self.knowsAllWords && self.columns.typedText(.hold).map { HoldState(rawValue: $0) == nil } ?? false
    }

    private mutating func hold() -> Circuit.Hold? {
        if self.hasUnknownHold { return nil }

        let since = self.optionalTime(.holdSince)
        let until = self.optionalTime(.holdUntil)
        let by = self.optionalText(.holdBy)
        let reason = self.optionalText(.holdReason)
        guard let word = self.optionalText(.hold) else {
            if since != nil { self.isReadable = false }
            return nil
        }
        guard let state = HoldState(rawValue: word), let since else {
            self.isReadable = false
            return nil
        }
        return Circuit.Hold(state: state, since: since, until: until, by: by, reason: reason)
    }

    /// The note about the failures; nil values for nonsense, because the failures can be counted again.
    private func failures() -> CircuitRow.NotedFailures {
        let count = self.columns.typedInteger(.failures).flatMap { (0...Int64(Int32.max)).contains($0) ? $0 : nil }
        return CircuitRow.NotedFailures(
            count: count, since: self.columns.typedInteger(.failuresSince).map(StoreTime.init(microseconds:)))
    }

    private mutating func badAndRefused(_ failed: CircuitColumn, _ refused: CircuitColumn) -> CircuitRow.BadAndRefused?
    {
        guard let failed = self.optionalInteger(failed), let refused = self.optionalInteger(refused) else { return nil }
        return CircuitRow.BadAndRefused(failed: failed, refused: refused)
    }

    // MARK: - One column

    /// The value, or `none` for a value that can't be read.
    private mutating func found<Value>(_ value: Value?, or none: Value) -> Value {
        guard let value else {
            self.isReadable = false
            return none
        }
        return value
    }

    private mutating func integer(_ column: CircuitColumn, in range: ClosedRange<Int64> = Self.all) -> Int64 {
        let value = self.columns.typedInteger(column).flatMap { range.contains($0) ? $0 : nil }
        return self.found(value, or: range.lowerBound)
    }

    private mutating func count(_ column: CircuitColumn, in range: ClosedRange<Int64>, most: Int64 = .max) -> Int {
        // An Apple Watch may have an `Int` of 32 bits.
        Int(clamping: min(self.integer(column, in: range), most))
    }

    private mutating func real(_ column: CircuitColumn, in range: ClosedRange<Double>) -> Double {
        let value = self.columns.typedReal(column).flatMap { range.contains($0) ? $0 : nil }
        return self.found(value, or: range.lowerBound)
    }

    private mutating func text(_ column: CircuitColumn) -> String {
        self.found(self.columns.typedText(column), or: "")
    }

    private mutating func optionalInteger(_ column: CircuitColumn) -> Int64? {
        let value = self.columns.typedInteger(column)
        if value == nil, !self.columns.isNull(column) { self.isReadable = false }
        return value
    }

    private mutating func optionalTime(_ column: CircuitColumn) -> StoreTime? {
        self.optionalInteger(column).map { StoreTime(microseconds: $0) }
    }

    private mutating func optionalText(_ column: CircuitColumn) -> String? {
        let value = self.columns.typedText(column)
        if value == nil, !self.columns.isNull(column) { self.isReadable = false }
        return value
    }
}
