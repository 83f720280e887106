/// Reads a circuit's columns one by one, and notes those that no version of this library can have written.
///
/// Not generic: the runtime would have to make the type for the first row of each process.
struct CircuitReader {
    /// The row; a column that can't be read has the value that a new circuit would have.
    private(set) var row: CircuitRow
    /// The columns that can't be read.
    private(set) var unreadable: [CircuitColumn] = []

    private let columns: any ColumnSource

    /// Above every epoch that time and transitions can have led to.
    private static var highestEpoch: Int64 { 1 << 62 }
    private static var times: ClosedRange<Int64> { 1...Duration.longestAllowed.saturatingMicroseconds }
    private static var counts: ClosedRange<Int64> { 1...1_000_000 }
    /// The board's cells have a circuit's birth as their key, and 2^62 for another cell of the circuit.
    private static var births: ClosedRange<Int64> { 1...(1 << 62) - 1 }
    private static var naturals: ClosedRange<Int64> { 0...Int64.max }

    /// - Parameter config: has the values of columns that can't be read.
    init(_ columns: some ColumnSource, _ config: CircuitBreaker.Config? = nil) {
        self.columns = columns
        let rules = config.map(Rules.init) ?? .defaults
        let circuit = Circuit(rules: rules, state: .closed, since: StoreTime(microseconds: 0), epoch: 0)
        var row = CircuitRow(id: 0, label: config?.group, refusals: 0, registered: 0, circuit: circuit)
        self.row = row
        for column in CircuitColumn.all { self.read(column, into: &row) }
        self.takeNewer(into: &row)
        self.row = row
    }

    private mutating func read(_ column: CircuitColumn, into row: inout CircuitRow) {
        switch column {
        case .id: self.integer(column, &row.id)
        case .label: self.optionalText(column, &row.label)
        case .tripRule: self.trip(&row.circuit.rules.trip)
        case .tripCount, .tripWindow: break
        case .recovery: self.integer(column, in: Self.times, &row.circuit.rules.recovery)
        case .multiplier: self.real(column, in: 1...Double.greatestFiniteMagnitude, &row.circuit.rules.multiplier)
        case .cap: self.integer(column, in: Self.times, &row.circuit.rules.cap)
        case .jitter: self.real(column, in: 0...1, &row.circuit.rules.jitter)
        case .probeLimit: self.count(column, in: Self.counts, &row.circuit.rules.probeLimit)
        case .probeSuccesses: self.count(column, in: Self.counts, &row.circuit.rules.successesToClose)
        case .probeLease: self.integer(column, in: Self.times, &row.circuit.rules.lease)
        case .minimumReporters: self.count(column, in: Self.counts, &row.circuit.rules.minimumReporters)
        case .state: self.state(&row.circuit.state)
        case .openUntil, .successes: break
        case .since: self.integer(column, &row.circuit.since.microseconds)
        case .epoch: self.integer(column, in: 0...Self.highestEpoch, &row.circuit.epoch)
        case .trips: self.count(column, in: Self.naturals, most: Self.counts.upperBound, &row.circuit.tripsInARow)
        case .forgottenUntil: row.circuit.forgottenUntil = self.optionalTime(column)
        case .lastError: self.optionalText(column, &row.circuit.lastError)
        case .hold: row.circuit.hold = self.hold()
        case .holdSince, .holdUntil, .holdBy, .holdReason: break
        case .refusals: self.count(column, in: Self.naturals, &row.refusals)
        case .registered: self.integer(column, &row.registered)
        // What only newer programs write says nothing where it can't be read: a program that lacks it goes on.
        case .birth: row.birth = self.columns.typedInteger(column).flatMap { Self.births.contains($0) ? $0 : nil }
        case .failures: row.mark = FailureMark(self.columns)
        case .failuresSince, .failuresTo, .counting: break
        case .stateOf, .outageSince, .observedState, .observedUntil, .observedSuccesses: break
        case .rulesOf, .mode, .rule, .ruleCount, .ruleWindow, .ruleShare: break
        case .slowThreshold, .slowShare, .slowCount, .slowWindow: break
        }
    }

    // MARK: - Since schema 1.1

    /// Reads what only newer programs know, where no program of schema 1.0 has changed the circuit since.
    private mutating func takeNewer(into row: inout CircuitRow) {
        let isOfThisEpoch = self.columns.typedInteger(.stateOf) == row.circuit.epoch
        if isOfThisEpoch {
            row.circuit.trippedSince = self.columns.typedInteger(.outageSince).map(StoreTime.init(microseconds:))
        }
        guard !self.columns.isNull(.rulesOf) else { return }
        guard self.columns.typedInteger(.rulesOf) == row.circuit.rules.fingerprint(label: row.label) else {
            // With a rule that is never met there must be another one: a circuit that never trips is no circuit.
            if row.circuit.rules.trip.count == Rules.failuresOfStandIn { self.note(.rulesOf) }
            return
        }
        self.newerTrip(&row.circuit.rules.trip)
        self.slow(&row.circuit.rules.slow)
        var mode = ""
        self.text(.mode, &mode)
        switch mode {
        case "enforcing": break
        case "observing":
            row.circuit.rules.isObserving = true
            if isOfThisEpoch, row.circuit.state == .closed {
                self.state(&row.circuit.state, .observedState, .observedUntil, .observedSuccesses)
            }
        default: self.note(.mode)
        }
    }

    private mutating func newerTrip(_ trip: inout Rules.Trip) {
        let known = self.unreadable.count
        var word = ""
        var count = 1
        var window: Int64 = 1
        self.text(.rule, &word)
        self.count(.ruleCount, in: Self.counts, &count)
        self.integer(.ruleWindow, in: (word == "consecutive" ? 0 : 1)...Self.times.upperBound, &window)
        let found: Rules.Trip
        switch word {
        case "failures": found = .failures(count, window: window)
        case "consecutive": found = .consecutiveFailures(count)
        case Rules.Trip.rate:
            var share = 1.0
            self.real(.ruleShare, in: Double.leastNonzeroMagnitude...1, &share)
            found = .failureRate(CallShare(share: share, minimumCalls: count), window: window)
        default:
            found = .unknown(word, count: count, window: window)
            let words = ["failures", "consecutive", Rules.Trip.rate]
            if !StoredWord.mayBeOfALaterVersion(word, besides: words) { self.note(.rule) }
        }
        if self.unreadable.count == known { trip = found }
    }

    private mutating func slow(_ slow: inout Rules.Slow?) {
        guard !self.columns.isNull(.slowThreshold) else { return }
        let known = self.unreadable.count
        var found = Rules.Slow(threshold: 1, share: CallShare(share: 1, minimumCalls: 1), window: 1)
        self.integer(.slowThreshold, in: Self.times, &found.threshold)
        self.real(.slowShare, in: Double.leastNonzeroMagnitude...1, &found.share.share)
        self.count(.slowCount, in: Self.counts, &found.share.minimumCalls)
        self.integer(.slowWindow, in: Self.times, &found.window)
        if self.unreadable.count == known { slow = found }
    }

    // MARK: - Of all schemas

    /// A rule is read as a whole: half of one would be another rule.
    private mutating func trip(_ trip: inout Rules.Trip) {
        let known = self.unreadable.count
        var word = ""
        var count = 1
        var window: Int64 = 1
        self.text(.tripRule, &word)
        self.count(.tripCount, in: Self.counts, &count)
        self.integer(.tripWindow, in: (word == "failures" ? 1 : 0)...Self.times.upperBound, &window)
        let found: Rules.Trip
        switch word {
        case "failures": found = .failures(count, window: window)
        case "consecutive": found = .consecutiveFailures(count)
        default:
            found = .unknown(word, count: count, window: window)
            if !StoredWord.mayBeOfALaterVersion(word, besides: ["failures", "consecutive"]) { self.note(.tripRule) }
        }
        if self.unreadable.count == known { trip = found }
    }

    private mutating func state(
        _ state: inout Circuit.State,
        _ column: CircuitColumn = .state,
        _ untilColumn: CircuitColumn = .openUntil,
        _ successesColumn: CircuitColumn = .successes
    ) {
        var word = ""
        var successes = 0
        self.text(column, &word)
        let until = self.optionalTime(untilColumn)
        self.count(successesColumn, in: Self.naturals, most: Self.counts.upperBound, &successes)
        switch (word, until) {
        case ("closed", nil): state = .closed
        case ("open", let until?): state = .open(until: until)
        case ("half-open", nil): state = .halfOpen(successes: successes)
        case ("closed", _), ("open", _), ("half-open", _): self.note(untilColumn)
        default:
            if StoredWord.mayBeOfALaterVersion(word, besides: ["closed", "open", "half-open"]) {
                state = .unknown(word, until: until)
            } else {
                self.note(column)
            }
        }
    }

    private mutating func hold() -> Circuit.Hold? {
        var word: String?
        var by: String?
        var reason: String?
        self.optionalText(.hold, &word)
        let since = self.optionalTime(.holdSince)
        let until = self.optionalTime(.holdUntil)
        self.optionalText(.holdBy, &by)
        self.optionalText(.holdReason, &reason)
        guard let word else {
            if since != nil { self.note(.holdSince) }
            return nil
        }
        guard let state = HoldState(rawValue: word) else {
            self.note(.hold)
            return nil
        }
        guard let since else {
            self.note(.holdSince)
            return nil
        }
        return Circuit.Hold(state: state, since: since, until: until, by: by, reason: reason)
    }

    // MARK: - One column

    private mutating func note(_ column: CircuitColumn) {
        if !self.unreadable.contains(column) { self.unreadable.append(column) }
    }

    private mutating func integer(
        _ column: CircuitColumn,
        in range: ClosedRange<Int64> = Int64.min...Int64.max,
        _ value: inout Int64
    ) {
        guard let found = self.columns.typedInteger(column), range.contains(found) else { return self.note(column) }
        value = found
    }

    private mutating func count(
        _ column: CircuitColumn,
        in range: ClosedRange<Int64>,
        most: Int64 = .max,
        _ value: inout Int
    ) {
        guard let found = self.columns.typedInteger(column), range.contains(found) else { return self.note(column) }
        // Some watches have an `Int` of 32 bits.
        value = Int(clamping: min(found, most))
    }

    private mutating func real(_ column: CircuitColumn, in range: ClosedRange<Double>, _ value: inout Double) {
        guard let found = self.columns.typedReal(column), range.contains(found) else { return self.note(column) }
        value = found
    }

    private mutating func text(_ column: CircuitColumn, _ value: inout String) {
        guard let found = self.columns.typedText(column) else { return self.note(column) }
        value = found
    }

    private mutating func optionalTime(_ column: CircuitColumn) -> StoreTime? {
        if let found = self.columns.typedInteger(column) { return StoreTime(microseconds: found) }
        if !self.columns.isNull(column) { self.note(column) }
        return nil
    }

    private mutating func optionalText(_ column: CircuitColumn, _ value: inout String?) {
        if let found = self.columns.typedText(column) {
            value = found
        } else if self.columns.isNull(column) {
            value = nil
        } else {
            self.note(column)
        }
    }
}
