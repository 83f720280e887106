/// The one list of a circuit's columns.
///
/// The statements about a circuit's row, the values that they bind, the reading of a row and the comparison of two rows
/// are all made from this list.
///
/// A case's number is the column's index in a SELECT, and in `entries`. `name` is not listed: most callers search a row
/// by its name. Other callers select `name` after these columns.
enum CircuitColumn: Int32, CaseIterable {
    case id, incarnation, registered
    case group, mode, rules
    case state, since, epoch, windowGeneration, openUntil, successes, probeFailures, trips, forgottenUntil, clearedAt
    case lastError
    case generationFailed, generationRefused
    case outageSince, outageFailed, outageRefused, tripReason, tripFailed, tripCalls
    case hold, holdSince, holdUntil, holdBy, holdReason
    case failureCount, failuresSince

    /// The part of the program that changes a column.
    enum Part {
        /// No part changes the column.
        case key
        /// A process that registers the circuit.
        case config
        /// The state machine, by calls and operators.
        case state
        /// Each failure.
        case failure
        /// Not saved with the row.
        ///
        /// A statement of its own writes it when a worker starts or ends its use of the circuit, or is removed.
        case direct
    }

    private typealias Entry = (name: String, part: Part, value: @Sendable (CircuitRow) -> SQLValue)

    /// In the order of the cases.
    private static let entries: [Entry] = [
        ("id", .key, { .integer($0.id) }),
        ("incarnation", .key, { .integer($0.incarnation) }),
        ("registered", .direct, { .integer($0.lastUsed) }),
        ("group_name", .config, { SQLValue($0.group) }),
        ("mode", .config, { .text($0.circuit.rules.mode.rawValue) }),
        ("rules", .config, { .text($0.circuit.rules.text) }),
        ("state", .state, { .text($0.circuit.state.word) }),
        ("since", .state, { .integer($0.circuit.since.microseconds) }),
        ("epoch", .state, { SQLValue($0.circuit.epoch) }),
        ("window_generation", .state, { SQLValue($0.circuit.windowGeneration) }),
        ("open_until", .state, { SQLValue($0.circuit.state.until?.microseconds) }),
        ("successes", .state, { .integer($0.circuit.state.successes) }),
        ("probe_failures", .state, { .integer($0.circuit.failuresOfHalfOpen) }),
        ("trips", .state, { .integer(Int64($0.circuit.tripsInARow)) }),
        ("forgotten_until", .state, { SQLValue($0.circuit.forgottenUntil?.microseconds) }),
        ("cleared_at", .state, { SQLValue($0.circuit.clearedAt?.microseconds) }),
        ("last_error", .failure, { SQLValue($0.circuit.lastError) }),
        ("generation_failed", .state, { SQLValue($0.countsAtGenerationStart?.failed) }),
        ("generation_refused", .state, { SQLValue($0.countsAtGenerationStart?.refused) }),
        ("outage_since", .state, { SQLValue($0.circuit.trippedSince?.microseconds) }),
        ("outage_failed", .state, { SQLValue($0.countsAtOutageStart?.failed) }),
        ("outage_refused", .state, { SQLValue($0.countsAtOutageStart?.refused) }),
        ("trip_reason", .state, { SQLValue($0.circuit.trip?.reason) }),
        ("trip_failed", .state, { SQLValue($0.circuit.trip?.failed) }),
        ("trip_calls", .state, { SQLValue($0.circuit.trip?.calls) }),
        ("hold", .state, { SQLValue($0.circuit.hold?.state.rawValue) }),
        ("hold_since", .state, { SQLValue($0.circuit.hold?.since.microseconds) }),
        ("hold_until", .state, { SQLValue($0.circuit.hold?.until?.microseconds) }),
        ("hold_by", .state, { SQLValue($0.circuit.hold?.by) }),
        ("hold_reason", .state, { SQLValue($0.circuit.hold?.reason) }),
        ("failure_count", .failure, { SQLValue($0.failures.count) }),
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
            let assignments = CircuitColumn.list(self.columns) { index, column in "\(column.name) = ?\(index + 2)" }
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
            VALUES (?1, ?2, \(Self.list(Self.inserted) { index, _ in "?\(index + 3)" }))
            """
    )

    /// The values of `insert`; SQLite chooses the id if `id` is nil.
    ///
    /// - Parameter rules: the text of the row's rules.
    static func inserted(_ row: CircuitRow, named name: String, id: Int64?, rules: String) -> [SQLValue] {
        [SQLValue(id), .text(name)] + Self.inserted.map { $0 == .rules ? .text(rules) : $0.value(in: row) }
    }

    // Not `joined`, for which the runtime would search all loaded libraries for conformances.
    private static func list(_ columns: [CircuitColumn], _ text: (Int, CircuitColumn) -> String) -> String {
        var list = ""
        list.reserveCapacity(columns.count * 16)
        for (index, column) in columns.enumerated() {
            if index > 0 { list += ", " }
            list += text(index, column)
        }
        return list
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

extension Circuit {
    /// 0 in any other state, in which the number means nothing and is not read back.
    fileprivate var failuresOfHalfOpen: Int64 {
        switch self.state {
        case .halfOpen: Int64(self.probeFailures)
        case .closed, .open, .unknown: 0
        }
    }
}
