/// Reads a circuit's row, into which any program may have written anything.
///
/// Each function returns a value that this library can have written, or throws: then the whole row is unreadable. An
/// unusable text of rules does not throw: `Rules.standingIn` replaces it.
struct CircuitReader {
    private struct Unreadable: Error {}

    private let columns: Row
    /// Whether no later version has used the file, so that any unknown rule, mode or state is damage.
    private let knowsAllValues: Bool

    /// Above every epoch that time and transitions can reach.
    private static var maxEpoch: Int64 { 1 << 62 }
    private static let maxCounted: Int64 = 1_000_000
    /// On the board a circuit's incarnation is the key of its cell; bit 62 marks another cell of the same circuit.
    private static var incarnations: ClosedRange<Int64> { 1...(1 << 62) - 1 }
    private static var naturals: ClosedRange<Int64> { 0...Int64.max }
    private static var all: ClosedRange<Int64> { Int64.min...Int64.max }

    /// The rules of the stored text; nil if it is no text.
    private let storedRules: Rules?

    init(_ columns: Row, knowsAllValues: Bool, rules: Rules?) {
        self.columns = columns
        self.knowsAllValues = knowsAllValues
        self.storedRules = rules
    }

    /// The row; nil if it can't be read.
    var row: CircuitRow? { try? self.readRow() }

    private func readRow() throws(Unreadable) -> CircuitRow {
        // A hold overrides the state, so an unknown hold makes the state unknown, too: calls go through uncounted, and
        // a registration leaves the row as it is.
        let hasUnknownHold = self.hasUnknownHold
        var circuit = Circuit(
            rules: try self.rules(),
            state: hasUnknownHold ? .unknown(try self.text(.state), until: nil) : try self.state(),
            since: StoreTime(microseconds: try self.integer(.since)),
            epoch: Epoch(try self.integer(.epoch, in: 0...Self.maxEpoch)),
            forgottenUntil: try self.optionalTime(.forgottenUntil),
            tripsInARow: try self.count(.trips, in: Self.naturals, atMost: Self.maxCounted),
            hold: hasUnknownHold ? nil : try self.hold(), lastError: try self.optionalText(.lastError))
        if case .halfOpen = circuit.state {
            circuit.probeFailures = try self.count(.probeFailures, in: Self.naturals, atMost: Self.maxCounted)
        }
        circuit.windowGeneration = WindowGeneration(try self.integer(.windowGeneration, in: Self.naturals))
        circuit.clearedAt = try self.optionalTime(.clearedAt)
        circuit.trippedSince = try self.optionalTime(.outageSince)
        if circuit.trippedSince != nil {
            circuit.trip = Circuit.Trip(
                reason: try self.optionalText(.tripReason), failed: try self.optionalInteger(.tripFailed),
                calls: try self.optionalInteger(.tripCalls))
        }
        return CircuitRow(
            id: try self.integer(.id), incarnation: try self.integer(.incarnation, in: Self.incarnations),
            group: try self.optionalText(.group), lastUsed: try self.integer(.registered),
            countsAtGenerationStart: try self.failedAndRefused(.generationFailed, .generationRefused),
            countsAtOutageStart: try self.failedAndRefused(.outageFailed, .outageRefused), failures: self.failures(),
            circuit: circuit)
    }

    private func rules() throws(Unreadable) -> Rules {
        guard var rules = self.storedRules else { throw Unreadable() }
        let word = try self.text(.mode)
        if let mode = CircuitMode(rawValue: word) {
            rules.mode = mode
        } else {
            // A later version's mode: this version does not know when such a circuit trips.
            if self.knowsAllValues { throw Unreadable() }
            let why = "the mode \(word.quoted)"
            rules = .standingIn(for: .ofLaterRelease(rules.text, why: why), trip: why)
            rules.isModeKnown = false
        }
        return rules
    }

    // MARK: - State

    private func state() throws(Unreadable) -> Circuit.State {
        let word = try self.text(.state)
        let until = try self.optionalTime(.openUntil)
        let successes = try self.count(.successes, in: Self.naturals, atMost: Self.maxCounted)
        switch (word, until) {
        case ("closed", nil): return .closed
        case ("open", let until?): return .open(until: until)
        case ("half-open", nil): return .halfOpen(successes: successes)
        default:
            if self.knowsAllValues || ["closed", "open", "half-open"].contains(word) { throw Unreadable() }
            return .unknown(word, until: until)
        }
    }

    /// Whether a later version has written a hold whose effect on calls this version does not know.
    private var hasUnknownHold: Bool {
        !self.knowsAllValues && self.columns.typedText(.hold).map { HoldState(rawValue: $0) == nil } ?? false
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

    /// The stored count of failures; nil for impossible values, because the failures can be counted again.
    private func failures() -> CircuitRow.StoredFailureCount {
        let count = self.columns.typedInteger(.failureCount).flatMap { (0...Int64(Int32.max)).contains($0) ? $0 : nil }
        return CircuitRow.StoredFailureCount(
            count: count, since: self.columns.typedInteger(.failuresSince).map(StoreTime.init(microseconds:)))
    }

    private func failedAndRefused(
        _ failed: CircuitColumn, _ refused: CircuitColumn
    ) throws(Unreadable) -> CircuitRow.FailedAndRefused? {
        guard let failed = try self.optionalInteger(failed), let refused = try self.optionalInteger(refused),
            min(failed, refused) >= 0
        else {
            return nil
        }
        return CircuitRow.FailedAndRefused(failed: failed, refused: refused)
    }

    // MARK: - One column

    private func integer(_ column: CircuitColumn, in range: ClosedRange<Int64> = Self.all) throws(Unreadable) -> Int64 {
        guard let value = self.columns.typedInteger(column), range.contains(value) else { throw Unreadable() }
        return value
    }

    private func count(
        _ column: CircuitColumn, in range: ClosedRange<Int64>, atMost max: Int64 = .max
    ) throws(Unreadable) -> Int {
        // An Apple Watch may have an `Int` of 32 bits.
        Int(clamping: min(try self.integer(column, in: range), max))
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
