/// The one list of a circuit's columns.
///
/// The statements about a circuit's row, the values that they bind, the reading of a row and the comparison of two rows
/// are all made from this list.
///
/// A case's number is the column's place in a SELECT, and in `entries`. `name` is not listed: most callers look for a
/// row by its name. Other callers select `name` after these columns.
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

    private typealias Entry = (name: String, part: Part, value: @Sendable (CircuitRow) -> SQLValue)

    /// In the order of the cases.
    private static let entries: [Entry] = [
        ("id", .key, { .integer($0.id) }),
        ("birth", .key, { .integer($0.birth) }),
        ("registered", .tally, { .integer($0.registered) }),
        ("label", .config, { SQLValue($0.label) }),
        ("mode", .config, { .text($0.circuit.rules.isObserving ? "observing" : "enforcing") }),
        ("rule", .config, { .text($0.circuit.rules.trip.word) }),
        ("rule_count", .config, { .integer($0.circuit.rules.trip.count) }),
        ("rule_window", .config, { .integer($0.circuit.rules.trip.window) }),
        ("rule_share", .config, { $0.circuit.rules.trip.share.map { .real($0) } ?? .null }),
        ("slow_threshold", .config, { SQLValue($0.circuit.rules.slow?.threshold) }),
        ("slow_share", .config, { $0.circuit.rules.slow.map { .real($0.share.share) } ?? .null }),
        ("slow_count", .config, { SQLValue($0.circuit.rules.slow.map { Int64($0.share.minimumCalls) }) }),
        ("slow_window", .config, { SQLValue($0.circuit.rules.slow?.window) }),
        ("recovery", .config, { .integer($0.circuit.rules.recovery) }),
        ("recovery_multiplier", .config, { .real($0.circuit.rules.multiplier) }),
        ("recovery_cap", .config, { .integer($0.circuit.rules.cap) }),
        ("recovery_jitter", .config, { .real($0.circuit.rules.jitter) }),
        ("outage_cap", .key, { .integer($0.outageCap) }),
        ("probe_limit", .config, { .integer(Int64($0.circuit.rules.probeLimit)) }),
        ("probe_successes", .config, { .integer(Int64($0.circuit.rules.successesToClose)) }),
        ("probe_lease", .config, { .integer($0.circuit.rules.lease) }),
        ("minimum_reporters", .config, { .integer(Int64($0.circuit.rules.minimumReporters)) }),
        ("state", .state, { .text($0.circuit.state.word) }),
        ("since", .state, { .integer($0.circuit.since.microseconds) }),
        ("epoch", .state, { .integer($0.circuit.epoch) }),
        ("stretch", .state, { .integer($0.circuit.stretch) }),
        ("open_until", .state, { SQLValue($0.circuit.state.until?.microseconds) }),
        ("successes", .state, { .integer($0.circuit.state.successes) }),
        ("trips", .state, { .integer(Int64($0.circuit.tripsInARow)) }),
        ("forgotten_until", .state, { SQLValue($0.circuit.forgottenUntil?.microseconds) }),
        ("last_error", .failure, { SQLValue($0.circuit.lastError) }),
        ("stretch_failed", .state, { SQLValue($0.stretchBegan?.failed) }),
        ("stretch_refused", .state, { SQLValue($0.stretchBegan?.refused) }),
        ("outage_since", .state, { SQLValue($0.circuit.trippedSince?.microseconds) }),
        ("outage_failed", .state, { SQLValue($0.outageBegan?.failed) }),
        ("outage_refused", .state, { SQLValue($0.outageBegan?.refused) }),
        ("trip_reason", .state, { SQLValue($0.circuit.trip?.reason) }),
        ("trip_failed", .state, { SQLValue($0.circuit.trip?.failed) }),
        ("trip_calls", .state, { SQLValue($0.circuit.trip?.calls) }),
        ("hold", .state, { SQLValue($0.circuit.hold?.state.rawValue) }),
        ("hold_since", .state, { SQLValue($0.circuit.hold?.since.microseconds) }),
        ("hold_until", .state, { SQLValue($0.circuit.hold?.until?.microseconds) }),
        ("hold_by", .state, { SQLValue($0.circuit.hold?.by) }),
        ("hold_reason", .state, { SQLValue($0.circuit.hold?.reason) }),
        ("failures", .failure, { SQLValue($0.failures.count) }),
        ("failures_since", .failure, { SQLValue($0.failures.since?.microseconds) }),
    ]

    var name: String { Self.entries[Int(self.rawValue)].name }
    var part: Part { Self.entries[Int(self.rawValue)].part }

    func value(in row: CircuitRow) -> SQLValue { Self.entries[Int(self.rawValue)].value(row) }
}

// MARK: - Statements

extension CircuitColumn {
    /// An UPDATE of the columns of some parts.
    struct Update {
        let sql: SQL
        private let columns: [CircuitColumn]

        init(of parts: Part...) {
            self.columns = CircuitColumn.all.filter { column in parts.contains { $0 == column.part } }
            let assignments = CircuitColumn.list(self.columns) { place, column in "\(column.name) = ?\(place + 2)" }
            self.sql = SQL(composed: "UPDATE circuit SET \(assignments) WHERE id = ?1")
        }

        func values(of row: CircuitRow) -> [SQLValue] { [.integer(row.id)] + self.columns.map { $0.value(in: row) } }
    }

    static let all = Self.allCases
    static let updateOfFailure = Update(of: .failure)
    static let updateOfState = Update(of: .state, .failure)
    static let updateOfAll = Update(of: .config, .state, .failure)
    private static let inserted = Self.all.filter { $0 != .id }
    private static let selected = Self.list(Self.all) { _, column in column.name }

    static func select(_ text: (_ columns: String) -> String) -> SQL { SQL(composed: text(Self.selected)) }

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
