/// A row of the table `circuit`, as far as the machine and the snapshots know it.
struct CircuitRow {
    var id: Int64
    var label: String?
    var refusals: Int
    /// Without failures and probes, which have tables of their own.
    var circuit: Circuit

    static let columns = """
        circuit.id, label, trip_rule, trip_count, trip_window, recovery, recovery_multiplier, recovery_cap, recovery_jitter,
        probe_limit, probe_successes, probe_lease, minimum_reporters, state, since, epoch, open_until, successes, trips,
        forgotten_until, last_error, hold, hold_since, hold_until, hold_by, hold_reason, refusals
        """
    /// The first column after these.
    static let columnCount: Int32 = 27

    static let byName = SQL(composed: "SELECT \(Self.columns) FROM circuit WHERE name = ?1")
    /// The circuit, whether it has failures, and the clock: all that a call must look at.
    static let lookByName = SQL(
        composed: """
            SELECT \(Self.columns), EXISTS (SELECT 1 FROM failure WHERE failure.circuit = circuit.id),
            boot, offset, highest FROM circuit, clock WHERE name = ?1
            """
    )
    static let byPattern = SQL(
        composed: "SELECT \(Self.columns), name FROM circuit WHERE name GLOB ?1 ORDER BY name"
    )

    /// Reads the columns from `first` on.
    ///
    /// A row that no version of this program can have written is an error, not a trap.
    init(_ row: Row, from first: Int32 = 0, name: String, path: String) throws(BreakerStoreError) {
        func unreadable() -> BreakerStoreError {
            BreakerStoreError(code: .corrupt, message: "the row of circuit \(name.quoted) can't be read", path: path)
        }
        self.id = row.integer(first)
        self.label = row.optionalText(first + 1)
        self.refusals = Int(max(0, row.integer(first + 26)))
        guard let rules = Rules(row, from: first + 2) else { throw unreadable() }
        let state: Circuit.State
        switch (row.text(first + 13), row.optionalInteger(first + 16)) {
        case ("closed", nil): state = .closed
        case ("open", let until?): state = .open(until: StoreTime(microseconds: until))
        case ("half-open", nil): state = .halfOpen(successes: Self.count(row.integer(first + 17)))
        default: throw unreadable()
        }
        var hold: Circuit.Hold?
        if let word = row.optionalText(first + 21) {
            guard let held = HoldState(rawValue: word), let since = row.optionalInteger(first + 22) else {
                throw unreadable()
            }
            hold = Circuit.Hold(
                state: held,
                since: StoreTime(microseconds: since),
                until: row.optionalInteger(first + 23).map(StoreTime.init(microseconds:)),
                by: row.optionalText(first + 24),
                reason: row.optionalText(first + 25)
            )
        }
        self.circuit = Circuit(
            rules: rules,
            state: state,
            since: StoreTime(microseconds: row.integer(first + 14)),
            epoch: row.integer(first + 15),
            forgottenUntil: row.optionalInteger(first + 19).map(StoreTime.init(microseconds:)),
            tripsInARow: Self.count(row.integer(first + 18)),
            hold: hold,
            lastError: row.optionalText(first + 20)
        )
    }

    /// A counter that somebody set to anything.
    private static func count(_ value: Int64) -> Int { Int(min(max(value, 0), 1_000_000)) }
}

extension Rules {
    private static let usableTimes: ClosedRange<Int64> = 1...Duration.longestAllowed.saturatingMicroseconds
    private static let usableCounts: ClosedRange<Int64> = 1...1_000_000

    fileprivate init?(_ row: Row, from first: Int32) {
        let counts = [row.integer(first + 1), row.integer(first + 7), row.integer(first + 8), row.integer(first + 10)]
        let times = [row.integer(first + 3), row.integer(first + 5), row.integer(first + 9)]
        let multiplier = row.real(first + 4)
        let jitter = row.real(first + 6)
        guard counts.allSatisfy(Self.usableCounts.contains), times.allSatisfy(Self.usableTimes.contains),
            multiplier >= 1, multiplier.isFinite, (0...1).contains(jitter)
        else { return nil }
        let trip: Trip
        switch row.text(first) {
        case "failures":
            let window = row.integer(first + 2)
            guard Self.usableTimes.contains(window) else { return nil }
            trip = .failures(Int(counts[0]), window: window)
        case "consecutive":
            trip = .consecutiveFailures(Int(counts[0]))
        default:
            return nil
        }
        self.init(
            trip: trip,
            recovery: times[0],
            multiplier: multiplier,
            cap: times[1],
            jitter: jitter,
            probeLimit: Int(counts[1]),
            successesToClose: Int(counts[2]),
            lease: times[2],
            minimumReporters: Int(counts[3])
        )
    }

    /// The values of the rule's columns, in the table's order.
    var columnValues: [SQLValue] {
        let (word, window): (String, Int64) =
            switch self.trip {
            case .failures(_, let window): ("failures", window)
            case .consecutiveFailures: ("consecutive", 0)
            }
        return [
            .text(word), .integer(Int64(self.threshold)), .integer(window), .integer(self.recovery),
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
            }
        return [
            .text(self.state.word), .integer(self.since.microseconds), .integer(self.epoch), SQLValue(until),
            .integer(Int64(successes)), .integer(Int64(self.tripsInARow)), SQLValue(self.forgottenUntil?.microseconds),
            SQLValue(self.lastError), SQLValue(self.hold?.state.rawValue), SQLValue(self.hold?.since.microseconds),
            SQLValue(self.hold?.until?.microseconds), SQLValue(self.hold?.by), SQLValue(self.hold?.reason),
        ]
    }
}
