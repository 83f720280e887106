/// The one list of a circuit's columns.
///
/// The statements about a circuit's row, the values that they bind, the reading of a row and the comparison of two rows
/// are all made from this list.
///
/// A case's number is the column's place in a SELECT. `name` is not listed: every caller looks for a row by its name,
/// and so has the name already.
enum CircuitColumn: Int32, CaseIterable {
    case id, label
    case tripRule, tripCount, tripWindow, recovery, multiplier, cap, jitter, probeLimit, probeSuccesses, probeLease
    case minimumReporters
    case state, since, epoch, openUntil, successes, trips, forgottenUntil, lastError
    case hold, holdSince, holdUntil, holdBy, holdReason
    case refusals, registered
    // Since schema 1.1.
    case birth, failures, failuresSince, failuresTo, counting, stateOf, outageSince
    case observedState, observedUntil, observedSuccesses
    case rulesOf, mode, rule, ruleCount, ruleWindow, ruleShare, slowThreshold, slowShare, slowCount, slowWindow

    /// The part of the program that changes a column.
    enum Part {
        /// No part changes the column.
        case key
        /// A process that registers the circuit.
        case config
        /// The machine, with calls and operators.
        case state
        /// The counting of the failures.
        case count
        /// A statement of its own.
        case tally
    }

    var part: Part {
        switch self {
        case .id, .birth: .key
        case .label, .tripRule, .tripCount, .tripWindow, .recovery, .multiplier, .cap, .jitter, .probeLimit,
            .probeSuccesses, .probeLease, .minimumReporters, .rulesOf, .mode, .rule, .ruleCount, .ruleWindow,
            .ruleShare, .slowThreshold, .slowShare, .slowCount, .slowWindow:
            .config
        case .state, .since, .epoch, .openUntil, .successes, .trips, .forgottenUntil, .lastError, .hold, .holdSince,
            .holdUntil, .holdBy, .holdReason, .stateOf, .outageSince, .observedState, .observedUntil,
            .observedSuccesses:
            .state
        case .failures, .failuresSince, .failuresTo, .counting: .count
        case .refusals, .registered: .tally
        }
    }

    /// Whether a file of schema 1.0 lacks the column.
    var isOfCounting: Bool { self.rawValue >= Self.birth.rawValue }

    /// The column's name in the table.
    var name: String {
        switch self {
        case .id: "id"
        case .label: "label"
        case .tripRule: "trip_rule"
        case .tripCount: "trip_count"
        case .tripWindow: "trip_window"
        case .recovery: "recovery"
        case .multiplier: "recovery_multiplier"
        case .cap: "recovery_cap"
        case .jitter: "recovery_jitter"
        case .probeLimit: "probe_limit"
        case .probeSuccesses: "probe_successes"
        case .probeLease: "probe_lease"
        case .minimumReporters: "minimum_reporters"
        case .state: "state"
        case .since: "since"
        case .epoch: "epoch"
        case .openUntil: "open_until"
        case .successes: "successes"
        case .trips: "trips"
        case .forgottenUntil: "forgotten_until"
        case .lastError: "last_error"
        case .hold: "hold"
        case .holdSince: "hold_since"
        case .holdUntil: "hold_until"
        case .holdBy: "hold_by"
        case .holdReason: "hold_reason"
        case .refusals: "refusals"
        case .registered: "registered"
        case .birth: "birth"
        case .failures: "failures"
        case .failuresSince: "failures_since"
        case .failuresTo: "failures_to"
        case .counting: "counting"
        case .stateOf: "state_of"
        case .outageSince: "outage_since"
        case .observedState: "observed_state"
        case .observedUntil: "observed_until"
        case .observedSuccesses: "observed_successes"
        case .rulesOf: "rules_of"
        case .mode: "mode"
        case .rule: "rule"
        case .ruleCount: "rule_count"
        case .ruleWindow: "rule_window"
        case .ruleShare: "rule_share"
        case .slowThreshold: "slow_threshold"
        case .slowShare: "slow_share"
        case .slowCount: "slow_count"
        case .slowWindow: "slow_window"
        }
    }

    /// The value to be written.
    func value(in row: CircuitRow) -> SQLValue {
        switch self {
        case .id: .integer(row.id)
        case .label: SQLValue(row.label)
        case .tripRule: .text(row.circuit.rules.older.trip.word)
        case .tripCount: .integer(row.circuit.rules.older.trip.count)
        case .tripWindow: .integer(row.circuit.rules.older.trip.window)
        case .recovery: .integer(row.circuit.rules.recovery)
        case .multiplier: .real(row.circuit.rules.multiplier)
        case .cap: .integer(row.circuit.rules.cap)
        case .jitter: .real(row.circuit.rules.jitter)
        case .probeLimit: .integer(Int64(row.circuit.rules.probeLimit))
        case .probeSuccesses: .integer(Int64(row.circuit.rules.successesToClose))
        case .probeLease: .integer(row.circuit.rules.lease)
        case .minimumReporters: .integer(Int64(row.circuit.rules.minimumReporters))
        case .state: .text(row.olderState.word)
        case .since: .integer(row.circuit.since.microseconds)
        case .epoch: .integer(row.circuit.epoch)
        case .openUntil: SQLValue(row.olderState.until?.microseconds)
        case .successes: .integer(row.olderState.successes)
        case .trips: .integer(Int64(row.circuit.tripsInARow))
        case .forgottenUntil: SQLValue(row.circuit.forgottenUntil?.microseconds)
        case .lastError: SQLValue(row.circuit.lastError)
        case .hold: SQLValue(row.circuit.hold?.state.rawValue)
        case .holdSince: SQLValue(row.circuit.hold?.since.microseconds)
        case .holdUntil: SQLValue(row.circuit.hold?.until?.microseconds)
        case .holdBy: SQLValue(row.circuit.hold?.by)
        case .holdReason: SQLValue(row.circuit.hold?.reason)
        case .refusals: .integer(Int64(row.refusals))
        case .registered: .integer(row.registered)
        case .birth: SQLValue(row.birth)
        case .failures: SQLValue(row.mark?.count)
        case .failuresSince: SQLValue(row.mark?.since)
        case .failuresTo: SQLValue(row.mark?.to)
        case .counting: SQLValue(row.mark?.counting)
        case .stateOf: .integer(row.circuit.epoch)
        case .outageSince: SQLValue(row.circuit.trippedSince?.microseconds)
        case .observedState: SQLValue(row.observedState?.word)
        case .observedUntil: SQLValue(row.observedState?.until?.microseconds)
        case .observedSuccesses: SQLValue(row.observedState?.successes)
        case .rulesOf: SQLValue(row.newerRules.map { $0.older.fingerprint(label: row.label) })
        case .mode: SQLValue(row.newerRules.map { $0.isObserving ? "observing" : "enforcing" })
        case .rule: SQLValue(row.newerRules?.trip.word)
        case .ruleCount: SQLValue(row.newerRules?.trip.count)
        case .ruleWindow: SQLValue(row.newerRules?.trip.window)
        case .ruleShare: row.newerRules?.trip.share.map { .real($0) } ?? .null
        case .slowThreshold: SQLValue(row.circuit.rules.slow?.threshold)
        case .slowShare: row.circuit.rules.slow.map { .real($0.share.share) } ?? .null
        case .slowCount: SQLValue(row.circuit.rules.slow.map { Int64($0.share.minimumCalls) })
        case .slowWindow: SQLValue(row.circuit.rules.slow?.window)
        }
    }
}

// MARK: - Statements

extension CircuitColumn {
    static let all = Self.allCases
    static let configured = Self.all.filter { $0.part == .config }
    static let machine = Self.all.filter { $0.part == .state }
    static let counted = Self.all.filter { $0.part == .count }
    private static let inserted = Self.all.filter { $0 != .id }

    /// What a SELECT names.
    private static let selected = Self.list(Self.all) { _, column in column.name }
    /// What a SELECT names where the file's schema is 1.0.
    private static let selectedOfOlder = Self.list(Self.all) { _, column in
        column.isOfCounting ? "NULL" : column.name
    }

    /// A statement that selects all columns.
    static func select(_ text: @escaping @Sendable (_ columns: String) -> String) -> SQL {
        SQL(composed: text(Self.selected), older: text(Self.selectedOfOlder))
    }

    static let updateConfig = Self.update(Self.configured)
    static let updateState = Self.update(Self.machine)
    static let updateCount = Self.update(Self.counted)
    static let insert = SQL(
        composed: """
            INSERT INTO circuit (id, name, \(Self.list(Self.inserted) { _, column in column.name }))
            VALUES (?1, ?2, \(Self.list(Self.inserted) { place, _ in "?\(place + 3)" }))
            """
    )

    /// The values of `insert`, without an id where the row is to have a new one.
    static func inserted(_ row: CircuitRow, named name: String, id: Int64?) -> [SQLValue] {
        [SQLValue(id), .text(name)] + Self.inserted.map { $0.value(in: row) }
    }

    /// The values of `updateConfig` and `updateState`.
    static func updated(_ row: CircuitRow, _ columns: [CircuitColumn]) -> [SQLValue] {
        var values: [SQLValue] = []
        values.reserveCapacity(columns.count + 1)
        values.append(.integer(row.id))
        for column in columns { values.append(column.value(in: row)) }
        return values
    }

    private static func update(_ columns: [CircuitColumn]) -> SQL {
        let assignments = Self.list(columns) { place, column in "\(column.name) = ?\(place + 2)" }
        return SQL(composed: "UPDATE circuit SET \(assignments) WHERE id = ?1")
    }

    // Not `joined`: for that the runtime looks for conformances in all libraries that are loaded.
    private static func list(_ columns: [CircuitColumn], _ text: (Int, CircuitColumn) -> String) -> String {
        var list = ""
        list.reserveCapacity(columns.count * 16)
        for (place, column) in columns.enumerated() {
            if place > 0 { list += ", " }
            list += text(place, column)
        }
        return list
    }
}

extension CircuitRow {
    /// The state in the columns of schema 1.0, to whose programs an observing circuit is closed.
    fileprivate var olderState: Circuit.State { self.observedState == nil ? self.circuit.state : .closed }

    /// The state that an observing circuit would be in.
    fileprivate var observedState: Circuit.State? {
        self.circuit.rules.isObserving && self.circuit.state.isKnown ? self.circuit.state : nil
    }

    /// The rules, if programs of schema 1.0 do not know all of them.
    fileprivate var newerRules: Rules? { self.circuit.rules.isNewer ? self.circuit.rules : nil }
}

extension Rules.Trip {
    static let rate = "rate"

    var word: String {
        switch self {
        case .failures: "failures"
        case .consecutiveFailures: "consecutive"
        case .failureRate: Self.rate
        case .unknown(let word, count: _, window: _): word
        }
    }

    var count: Int64 {
        switch self {
        case .failures(let count, window: _), .consecutiveFailures(let count), .unknown(_, let count, window: _):
            Int64(count)
        case .failureRate(let share, window: _): Int64(share.minimumCalls)
        }
    }

    fileprivate var share: Double? {
        switch self {
        case .failureRate(let share, window: _): share.share
        case .failures, .consecutiveFailures, .unknown: nil
        }
    }

    var window: Int64 {
        switch self {
        case .failures(_, let window), .failureRate(_, let window), .unknown(_, count: _, let window): window
        case .consecutiveFailures: 0
        }
    }
}

extension Circuit.State {
    fileprivate var until: StoreTime? {
        switch self {
        case .open(let until): until
        case .unknown(_, let until): until
        case .closed, .halfOpen: nil
        }
    }

    fileprivate var successes: Int64 {
        switch self {
        case .halfOpen(let successes): Int64(successes)
        case .closed, .open, .unknown: 0
        }
    }
}
