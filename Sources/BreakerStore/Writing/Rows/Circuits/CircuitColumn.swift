/// The one list of a circuit's columns.
///
/// The statements about a circuit's row, the values that they bind, the reading of a row and the comparison of two rows
/// are all made from this list.
///
/// A case's number is the column's place in a SELECT. `name` is not listed: most callers look for a row by its name.
/// Other callers select `name` after these columns.
enum CircuitColumn: Int32, CaseIterable {
    case id, birth, registered
    case label, mode, rule, ruleCount, ruleWindow, ruleShare, slowThreshold, slowShare, slowCount, slowWindow
    case recovery, multiplier, cap, jitter, outageCap, probeLimit, probeSuccesses, probeLease, minimumReporters
    case state, since, epoch, stretch, openUntil, successes, trips, forgottenUntil, lastError
    case stretchFailed, stretchRefused
    case outageSince, outageFailed, outageRefused, tripReason, tripFailed, tripCalls
    case hold, holdSince, holdUntil, holdBy, holdReason
    case failures, failuresSince

    /// The part of the program that changes a column.
    enum Part {
        /// No part changes the column.
        case key
        /// A process that registers the circuit.
        case config
        /// The machine, with calls and operators.
        case state
        /// Each failure.
        case failure
        /// Not saved with the row: to note or end a worker's use of the circuit, and to remove a worker, the program
        /// writes it directly, each with a statement of its own.
        case tally
    }

    var part: Part {
        switch self {
        case .id, .birth, .outageCap: .key
        case .label, .mode, .rule, .ruleCount, .ruleWindow, .ruleShare, .slowThreshold, .slowShare, .slowCount,
            .slowWindow, .recovery, .multiplier, .cap, .jitter, .probeLimit, .probeSuccesses, .probeLease,
            .minimumReporters:
            .config
        case .state, .since, .epoch, .stretch, .openUntil, .successes, .trips, .forgottenUntil,
            .stretchFailed, .stretchRefused, .outageSince, .outageFailed, .outageRefused, .tripReason, .tripFailed,
            .tripCalls, .hold, .holdSince, .holdUntil, .holdBy, .holdReason:
            .state
        case .lastError, .failures, .failuresSince: .failure
        case .registered: .tally
        }
    }

    var name: String {
        switch self {
        case .id: "id"
        case .birth: "birth"
        case .registered: "registered"
        case .label: "label"
        case .mode: "mode"
        case .rule: "rule"
        case .ruleCount: "rule_count"
        case .ruleWindow: "rule_window"
        case .ruleShare: "rule_share"
        case .slowThreshold: "slow_threshold"
        case .slowShare: "slow_share"
        case .slowCount: "slow_count"
        case .slowWindow: "slow_window"
        case .recovery: "recovery"
        case .multiplier: "recovery_multiplier"
        case .cap: "recovery_cap"
        case .jitter: "recovery_jitter"
        case .outageCap: "outage_cap"
        case .probeLimit: "probe_limit"
        case .probeSuccesses: "probe_successes"
        case .probeLease: "probe_lease"
        case .minimumReporters: "minimum_reporters"
        case .state: "state"
        case .since: "since"
        case .epoch: "epoch"
        case .stretch: "stretch"
        case .openUntil: "open_until"
        case .successes: "successes"
        case .trips: "trips"
        case .forgottenUntil: "forgotten_until"
        case .lastError: "last_error"
        case .stretchFailed: "stretch_failed"
        case .stretchRefused: "stretch_refused"
        case .outageSince: "outage_since"
        case .outageFailed: "outage_failed"
        case .outageRefused: "outage_refused"
        case .tripReason: "trip_reason"
        case .tripFailed: "trip_failed"
        case .tripCalls: "trip_calls"
        case .hold: "hold"
        case .holdSince: "hold_since"
        case .holdUntil: "hold_until"
        case .holdBy: "hold_by"
        case .holdReason: "hold_reason"
        case .failures: "failures"
        case .failuresSince: "failures_since"
        }
    }

    func value(in row: CircuitRow) -> SQLValue {
        let circuit = row.circuit
        let rules = circuit.rules
        return switch self {
        case .id: .integer(row.id)
        case .birth: .integer(row.birth)
        case .registered: .integer(row.registered)
        case .label: SQLValue(row.label)
        case .mode: .text(rules.isObserving ? "observing" : "enforcing")
        case .rule: .text(rules.trip.word)
        case .ruleCount: .integer(rules.trip.count)
        case .ruleWindow: .integer(rules.trip.window)
        case .ruleShare: rules.trip.share.map { .real($0) } ?? .null
        case .slowThreshold: SQLValue(rules.slow?.threshold)
        case .slowShare: rules.slow.map { .real($0.share.share) } ?? .null
        case .slowCount: SQLValue(rules.slow.map { Int64($0.share.minimumCalls) })
        case .slowWindow: SQLValue(rules.slow?.window)
        case .recovery: .integer(rules.recovery)
        case .multiplier: .real(rules.multiplier)
        case .cap: .integer(rules.cap)
        case .jitter: .real(rules.jitter)
        case .outageCap: .integer(row.outageCap)
        case .probeLimit: .integer(Int64(rules.probeLimit))
        case .probeSuccesses: .integer(Int64(rules.successesToClose))
        case .probeLease: .integer(rules.lease)
        case .minimumReporters: .integer(Int64(rules.minimumReporters))
        case .state: .text(circuit.state.word)
        case .since: .integer(circuit.since.microseconds)
        case .epoch: .integer(circuit.epoch)
        case .stretch: .integer(circuit.stretch)
        case .openUntil: SQLValue(circuit.state.until?.microseconds)
        case .successes: .integer(circuit.state.successes)
        case .trips: .integer(Int64(circuit.tripsInARow))
        case .forgottenUntil: SQLValue(circuit.forgottenUntil?.microseconds)
        case .lastError: SQLValue(circuit.lastError)
        case .stretchFailed: SQLValue(row.stretchBegan?.failed)
        case .stretchRefused: SQLValue(row.stretchBegan?.refused)
        case .outageSince: SQLValue(circuit.trippedSince?.microseconds)
        case .outageFailed: SQLValue(row.outageBegan?.failed)
        case .outageRefused: SQLValue(row.outageBegan?.refused)
        case .tripReason: SQLValue(circuit.trip?.reason)
        case .tripFailed: SQLValue(circuit.trip?.failed)
        case .tripCalls: SQLValue(circuit.trip?.calls)
        case .hold: SQLValue(circuit.hold?.state.rawValue)
        case .holdSince: SQLValue(circuit.hold?.since.microseconds)
        case .holdUntil: SQLValue(circuit.hold?.until?.microseconds)
        case .holdBy: SQLValue(circuit.hold?.by)
        case .holdReason: SQLValue(circuit.hold?.reason)
        case .failures: SQLValue(row.failures.count)
        case .failuresSince: SQLValue(row.failures.since?.microseconds)
        }
    }
}

// MARK: - Statements

extension CircuitColumn {
    static let all = Self.allCases
    static let configured = Self.all.filter { $0.part == .config }
    static let machine = Self.all.filter { $0.part == .state }
    static let ofEachFailure = Self.all.filter { $0.part == .failure }
    private static let inserted = Self.all.filter { $0 != .id }

    private static let selected = Self.list(Self.all) { _, column in column.name }

    static func select(_ text: (_ columns: String) -> String) -> SQL { SQL(composed: text(Self.selected)) }

    static let updateConfig = Self.update(Self.configured)
    static let updateState = Self.update(Self.machine)
    static let updateFailures = Self.update(Self.ofEachFailure)
    static let insert = SQL(
        composed: """
            INSERT INTO circuit (id, name, \(Self.list(Self.inserted) { _, column in column.name }))
            VALUES (?1, ?2, \(Self.list(Self.inserted) { place, _ in "?\(place + 3)" }))
            """
    )

    /// The values of `insert`; SQLite chooses the id if `id` is nil.
    static func inserted(_ row: CircuitRow, named name: String, id: Int64?) -> [SQLValue] {
        [SQLValue(id), .text(name)] + Self.inserted.map { $0.value(in: row) }
    }

    /// The values of `updateConfig`, `updateState` and `updateFailures`.
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

    // Not `joined`, for which the runtime would look for conformances in all loaded libraries.
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
