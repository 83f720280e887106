/// Reads a circuit's row, into which any program may have written anything.
///
/// Each function returns a value that a program of this library can have written, or throws: then the whole row is
/// unreadable.
struct CircuitReader {
    private struct Unreadable: Error {}

    private let columns: Row
    /// Whether no later version has had the file, so that any unknown rule, mode or state is damage.
    private let knowsAllWords: Bool

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
    var row: CircuitRow? { try? self.readRow() }

    private func readRow() throws(Unreadable) -> CircuitRow {
        let hasUnknownHold = self.hasUnknownHold
        var circuit = Circuit(
            rules: try self.rules(),
            state: hasUnknownHold ? .unknown(try self.text(.state), until: nil) : try self.state(),
            since: StoreTime(microseconds: try self.integer(.since)),
            epoch: try self.integer(.epoch, in: 0...Self.highestEpoch),
            forgottenUntil: try self.optionalTime(.forgottenUntil),
            tripsInARow: try self.count(.trips, in: Self.naturals, most: Self.counts.upperBound),
            hold: hasUnknownHold ? nil : try self.hold(), lastError: try self.optionalText(.lastError))
        circuit.stretch = try self.integer(.stretch, in: Self.naturals)
        circuit.trippedSince = try self.optionalTime(.outageSince)
        if circuit.trippedSince != nil {
            circuit.trip = Circuit.Trip(
                reason: try self.optionalText(.tripReason), failed: try self.optionalInteger(.tripFailed),
                calls: try self.optionalInteger(.tripCalls))
        }
        return CircuitRow(
            id: try self.integer(.id), birth: try self.integer(.birth, in: Self.births),
            label: try self.optionalText(.label), outageCap: try self.integer(.outageCap, in: Self.times),
            registered: try self.integer(.registered),
            stretchBegan: try self.badAndRefused(.stretchFailed, .stretchRefused),
            outageBegan: try self.badAndRefused(.outageFailed, .outageRefused), failures: self.failures(),
            circuit: circuit)
    }

    // MARK: - Rules

    private func rules() throws(Unreadable) -> Rules {
        Rules(
            trip: try self.trip(), slow: try self.slow(), recovery: try self.integer(.recovery, in: Self.times),
            multiplier: try self.real(.multiplier, in: 1...Double.greatestFiniteMagnitude),
            cap: try self.integer(.cap, in: Self.times), jitter: try self.real(.jitter, in: 0...1),
            probeLimit: try self.count(.probeLimit, in: Self.counts),
            successesToClose: try self.count(.probeSuccesses, in: Self.counts),
            lease: try self.integer(.probeLease, in: Self.times),
            minimumReporters: try self.count(.minimumReporters, in: Self.counts), isObserving: try self.isObserving())
    }

    private func trip() throws(Unreadable) -> Rules.Trip {
        let word = try self.text(.rule)
        // Under a mode of a later version, this version does not know when the circuit trips.
        let hasKnownMode = self.knowsAllWords || ["enforcing", "observing"].contains(self.columns.typedText(.mode))
        let count = try self.count(.ruleCount, in: Self.counts)
        let isWindowless = word != "failures" && word != Rules.Trip.rate
        let window = try self.integer(.ruleWindow, in: (isWindowless ? 0 : 1)...Self.times.upperBound)
        guard hasKnownMode else { return .unknown(word, count: count, window: window) }
        switch word {
        case "failures": return .failures(count, window: window)
        case "consecutive": return .consecutiveFailures(count)
        case Rules.Trip.rate:
            return .failureRate(CallShare(share: try self.share(.ruleShare), minimumCalls: count), window: window)
        default:
            if self.knowsAllWords { throw Unreadable() }
            return .unknown(word, count: count, window: window)
        }
    }

    private func slow() throws(Unreadable) -> Rules.Slow? {
        guard !self.columns.isNull(.slowThreshold) else { return nil }
        return Rules.Slow(
            threshold: try self.integer(.slowThreshold, in: Self.times),
            share: CallShare(
                share: try self.share(.slowShare), minimumCalls: try self.count(.slowCount, in: Self.counts)),
            window: try self.integer(.slowWindow, in: Self.times))
    }

    private func share(_ column: CircuitColumn) throws(Unreadable) -> Double {
        try self.real(column, in: Double.leastNonzeroMagnitude...1)
    }

    private func isObserving() throws(Unreadable) -> Bool {
        switch try self.text(.mode) {
        case "observing": return true
        case "enforcing": return false
        default:
            if self.knowsAllWords { throw Unreadable() }
            return false
        }
    }

    // MARK: - State

    private func state() throws(Unreadable) -> Circuit.State {
        let word = try self.text(.state)
        let until = try self.optionalTime(.openUntil)
        let successes = try self.count(.successes, in: Self.naturals, most: Self.counts.upperBound)
        switch (word, until) {
        case ("closed", nil): return .closed
        case ("open", let until?): return .open(until: until)
        case ("half-open", nil): return .halfOpen(successes: successes)
        default:
            if self.knowsAllWords || ["closed", "open", "half-open"].contains(word) { throw Unreadable() }
            return .unknown(word, until: until)
        }
    }

    /// Whether a later version has written a hold whose effect on calls this version does not know.
    private var hasUnknownHold: Bool {
        !self.knowsAllWords && self.columns.typedText(.hold).map { HoldState(rawValue: $0) == nil } ?? false
    }

    private func hold() throws(Unreadable) -> Circuit.Hold? {
        let since = try self.optionalTime(.holdSince)
        let until = try self.optionalTime(.holdUntil)
        let by = try self.optionalText(.holdBy)
        let reason = try self.optionalText(.holdReason)
        let word = try self.optionalText(.hold)
        if word == nil, since == nil { return nil }
        guard let state = word.flatMap(HoldState.init(rawValue:)), let since else { throw Unreadable() }
        return Circuit.Hold(state: state, since: since, until: until, by: by, reason: reason)
    }

    /// The note about the failures; nil values for nonsense, because the failures can be counted again.
    private func failures() -> CircuitRow.NotedFailures {
        let count = self.columns.typedInteger(.failures).flatMap { (0...Int64(Int32.max)).contains($0) ? $0 : nil }
        return CircuitRow.NotedFailures(
            count: count, since: self.columns.typedInteger(.failuresSince).map(StoreTime.init(microseconds:)))
    }

    private func badAndRefused(
        _ failed: CircuitColumn, _ refused: CircuitColumn
    ) throws(Unreadable) -> CircuitRow.BadAndRefused? {
        guard let failed = try self.optionalInteger(failed), let refused = try self.optionalInteger(refused) else {
            return nil
        }
        return CircuitRow.BadAndRefused(failed: failed, refused: refused)
    }

    // MARK: - One column

    private func integer(_ column: CircuitColumn, in range: ClosedRange<Int64> = Self.all) throws(Unreadable) -> Int64 {
        guard let value = self.columns.typedInteger(column), range.contains(value) else { throw Unreadable() }
        return value
    }

    private func count(
        _ column: CircuitColumn, in range: ClosedRange<Int64>, most: Int64 = .max
    ) throws(Unreadable) -> Int {
        // An Apple Watch may have an `Int` of 32 bits.
        Int(clamping: min(try self.integer(column, in: range), most))
    }

    private func real(_ column: CircuitColumn, in range: ClosedRange<Double>) throws(Unreadable) -> Double {
        guard let value = self.columns.typedReal(column), range.contains(value) else { throw Unreadable() }
        return value
    }

    private func text(_ column: CircuitColumn) throws(Unreadable) -> String {
        guard let value = self.columns.typedText(column) else { throw Unreadable() }
        return value
    }

    private func optionalInteger(_ column: CircuitColumn) throws(Unreadable) -> Int64? {
        self.columns.isNull(column) ? nil : try self.integer(column)
    }

    private func optionalTime(_ column: CircuitColumn) throws(Unreadable) -> StoreTime? {
        try self.optionalInteger(column).map { StoreTime(microseconds: $0) }
    }

    private func optionalText(_ column: CircuitColumn) throws(Unreadable) -> String? {
        self.columns.isNull(column) ? nil : try self.text(column)
    }
}
