/// A row of the table `circuit`, as far as the machine and the snapshots know it.
struct CircuitRow {
    var id: Int64
    var label: String?
    var refusals: Int
    /// When a worker registered it last, or was found gone that had.
    var registered: Int64
    /// Without failures and probes, which have tables of their own.
    var circuit: Circuit

    static let columnNames = [
        "id", "label", "trip_rule", "trip_count", "trip_window", "recovery", "recovery_multiplier", "recovery_cap",
        "recovery_jitter", "probe_limit", "probe_successes", "probe_lease", "minimum_reporters", "state", "since",
        "epoch", "open_until", "successes", "trips", "forgotten_until", "last_error", "hold", "hold_since",
        "hold_until", "hold_by", "hold_reason", "refusals", "registered",
    ]
    // Not `joined`: for that the runtime looks for conformances in all libraries that are loaded.
    static let columns = Self.columnNames.dropFirst().reduce("circuit.id") { "\($0), circuit.\($1)" }
    /// The first column after these.
    static let columnCount = Int32(Self.columnNames.count)

    static let byName = SQL(composed: "SELECT \(Self.columns) FROM circuit WHERE name = ?1")
    /// The circuit, whether it has failures, and the clock: all that a call must look at.
    static let lookByName = SQL(
        composed: """
            SELECT \(Self.columns), EXISTS (SELECT 1 FROM failure WHERE failure.circuit = circuit.id),
            \(ClockRow.columns) FROM circuit, clock WHERE name = ?1 AND clock.id = 1
            """
    )
    static let byPattern = SQL(
        composed: "SELECT \(Self.columns), name FROM circuit WHERE name GLOB ?1 ORDER BY name"
    )

    /// What of a row can be read, and which columns can't; these have the values that a new circuit of `config` would
    /// have.
    ///
    /// - Parameter config: as somebody has registered the circuit; nil if nobody is known to have.
    static func salvaged(
        from columns: some ColumnSource,
        _ config: CircuitBreaker.Config?
    ) -> (row: CircuitRow, unreadable: [String]) {
        var reader = CircuitReader(columns, config)
        return (reader.circuit(), reader.unreadable)
    }
}

extension CircuitRow {
    /// Reads the columns from the first one on.
    ///
    /// A row that no version of this program can have written is an error, not a trap.
    init(_ row: Row, name: String, path: String) throws(BreakerStoreError) {
        var reader = CircuitReader(row)
        self = reader.circuit()
        guard reader.unreadable.isEmpty else { throw .unreadableCircuit(name, path) }
    }
}

extension BreakerStoreError {
    static func unreadableCircuit(_ name: String, _ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .corrupt, message: "the row of circuit \(name.quoted) can't be read", path: path)
    }
}

/// The values of one circuit's columns, by their places in `CircuitRow.columnNames`; nil for what is null or of another
/// type than is asked for.
protocol ColumnSource {
    func typedInteger(_ place: Int32) -> Int64?
    func typedReal(_ place: Int32) -> Double?
    func typedText(_ place: Int32) -> String?
    func isNull(_ place: Int32) -> Bool
}

extension Row: ColumnSource {}

extension Rules {
    /// The values of the rule's columns, in the table's order.
    var columnValues: [SQLValue] {
        let (word, count, window): (String, Int, Int64) =
            switch self.trip {
            case .failures(let count, let window): ("failures", count, window)
            case .consecutiveFailures(let count): ("consecutive", count, 0)
            case .unknown(let word, let count, let window): (word, count, window)
            }
        return [
            .text(word), .integer(Int64(count)), .integer(window), .integer(self.recovery),
            .real(self.multiplier), .integer(self.cap), .real(self.jitter), .integer(Int64(self.probeLimit)),
            .integer(Int64(self.successesToClose)), .integer(self.lease), .integer(Int64(self.minimumReporters)),
        ]
    }
}

extension Circuit {
    /// The values of the columns that the machine changes, from `state` on, in the table's order.
    var columnValues: [SQLValue] {
        let (until, successes): (Int64?, Int) =
            switch self.state {
            case .closed: (nil, 0)
            case .open(let until): (until.microseconds, 0)
            case .halfOpen(let successes): (nil, successes)
            case .unknown(_, let until): (until?.microseconds, 0)
            }
        return [
            .text(self.state.word), .integer(self.since.microseconds), .integer(self.epoch), SQLValue(until),
            .integer(Int64(successes)), .integer(Int64(self.tripsInARow)), SQLValue(self.forgottenUntil?.microseconds),
            SQLValue(self.lastError), SQLValue(self.hold?.state.rawValue), SQLValue(self.hold?.since.microseconds),
            SQLValue(self.hold?.until?.microseconds), SQLValue(self.hold?.by), SQLValue(self.hold?.reason),
        ]
    }
}
