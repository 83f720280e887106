import BreakerTestSupport
import Testing

@testable import BreakerStore

/// A circuit's columns: the list in `CircuitColumn`, the table and the fields of the machine's values say the same.
@Suite(.timeLimit(.minutes(10))) struct ColumnTests {
    private static let config = CircuitBreaker.Config(name: "a", group: "G")
    /// With a value in each column of the rules.
    private static let newer = CircuitBreaker.Config(
        name: "a", group: "G", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(10)),
        slow: SlowCallRule(longerThan: .seconds(2)), mode: .observing)

    /// A change of one field, by the field's name.
    private static let changes: [String: @Sendable (inout Circuit) -> Void] = [
        "rules.trip": { $0.rules.trip = .consecutiveFailures(7) },
        "rules.slow": { $0.rules.slow = SlowCallRule(longerThan: .microseconds(5), share: 0.25, minimumCalls: 3) },
        "rules.mode": { $0.rules.mode = .observing },
        "rules.recovery": {
            $0.rules.recovery = RecoveryRule(timeout: .seconds(7), multiplier: 1.5, cap: .seconds(80), jitter: 0.25)
        },
        "rules.probes": { $0.rules.probes = ProbeRule(limit: 2, successesToClose: 3, growth: 2, toleratedShare: 0.5) },
        "rules.stored": {
            // As a later release has written it.
            var rules = Rules.defaults
            rules.stored = .more(#"{"later":1}"#)
            $0.rules = Rules(storedText: Array(rules.text.utf8))
        },
        "windowGeneration": { $0.windowGeneration = $0.windowGeneration.next },
        "trip": {
            $0.trippedSince = $0.since
            $0.trip = Circuit.Trip(reason: "12 of 20", failed: 12, calls: 20)
        },
        "rules.minimumReporters": { $0.rules.minimumReporters += 1 },
        "state": { $0.state = .halfOpen(successes: 2) },
        "since": { $0.since = $0.since.adding(-1) },
        "epoch": { $0.epoch = $0.epoch.adding(1) },
        "forgottenUntil": { $0.forgottenUntil = $0.since },
        "clearedAt": { $0.clearedAt = $0.since },
        "probeFailures": {
            $0.state = .halfOpen(successes: 0)
            $0.probeFailures = 3
        },
        "tripsInARow": { $0.tripsInARow += 1 },
        "trippedSince": {
            $0.trippedSince = $0.since
            $0.trip = Circuit.Trip()
        },
        "probes": {
            $0.state = .halfOpen(successes: 0)
            $0.probes = [
                Circuit.Probe(
                    token: 1, worker: 1, since: $0.since, leaseEnds: $0.since,
                    prober: Circuit.Prober(name: "w", pid: 7))
            ]
        },
        "hold.state": { $0.hold?.state = .closed },
        "hold.since": { $0.hold?.since = $0.since.adding(-1) },
        "hold.until": { $0.hold?.until = nil },
        "hold.by": { $0.hold?.by = "Bob" },
        "hold.reason": { $0.hold?.reason = "ice" },
        "lastError": { $0.lastError = "E" },
    ]

    /// What a transaction sets before an event, and what it does and tells afterwards.
    private static let notKept: Set = ["failureCount", "failureChanges", "transitions", "rules.isModeKnown"]

    /// The names of all fields; those of the rules and the hold one by one.
    private static func fields(of circuit: Circuit) -> Set<String> {
        var fields: Set<String> = []
        func add(_ value: Any, _ prefix: String) {
            for case (let label?, _) in Mirror(reflecting: value).children { fields.insert(prefix + label) }
        }
        add(circuit, "")
        if fields.remove("rules") != nil { add(circuit.rules, "rules.") }
        if fields.remove("hold") != nil, let hold = circuit.hold { add(hold, "hold.") }
        return fields
    }

    @Test func everyFieldIsSaved() throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        _ = try fixture.store.breaker(Self.config)
        try fixture.store.hold("a", .open, for: .seconds(60), by: "Ann", reason: "storm")
        let base = try #require(try core.circuit("a"))
        #expect(Self.fields(of: base.row.circuit) == Self.notKept.union(Self.changes.keys))
        for (field, change) in Self.changes {
            var changed = base.row.circuit
            change(&changed)
            #expect(changed != base.row.circuit, "\(field)")
            for circuit in [changed, base.row.circuit] {
                try core.commit(until: Deadline(after: .hangLimit)) { (transaction) throws(BreakerStoreError) in
                    _ = try transaction.change("a") { stored, _, _ in stored = circuit }
                }
                #expect(try core.circuit("a")?.row.circuit == circuit, "\(field)")
            }
        }
    }

    /// The list is the table's, in its order.
    @Test func listIsTheTable() throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        let query = "SELECT group_concat(name) FROM pragma_table_info('circuit') WHERE name <> 'name'"
        let table = try #require(Foreign.value(path, query)).split(separator: ",").map(String.init)
        #expect(table == CircuitColumn.all.map(\.name))
        #expect(CircuitColumn.all.enumerated().allSatisfy { $0.element.rawValue == $0.offset })
    }

    /// Each column is written by one statement and read from where it stands.
    @Test(arguments: CircuitColumn.all)
    func columnIsWrittenAndRead(column: CircuitColumn) throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let path = fixture.store.backend.file.path
        _ = try fixture.store.breaker(column.part == .config ? Self.newer : Self.config)
        try fixture.store.hold("a", .open, for: .seconds(60), by: "Ann", reason: "storm")
        let before = try #require(try core.circuit("a")?.row)
        let update = "PRAGMA ignore_check_constraints = ON; UPDATE circuit SET \(Self.another(column))"
        Foreign.run(path, update, keepsLog: true)
        let after = try #require(try core.circuit("a")?.row)
        #expect(column.value(in: after) != column.value(in: before))
        let inFile = Foreign.value(path, "SELECT quote(\(column.name)) FROM circuit")
        #expect(inFile == Self.quoted(column.value(in: after)))
    }

    /// Sets a column, and those without which it can't be read.
    private static func another(_ column: CircuitColumn) -> String {
        switch column {
        case .state: "state = 'half-open'"
        case .openUntil: "state = 'open', open_until = since"
        case .successes: "state = 'half-open', successes = 2"
        case .probeFailures: "state = 'half-open', probe_failures = 2"
        case .hold: "hold = 'closed'"
        case .group, .lastError, .holdBy, .holdReason: "\(column.name) = 'else'"
        case .forgottenUntil: "forgotten_until = since"
        case .clearedAt: "cleared_at = since"
        case .failureCount: "failure_count = 40"
        case .failuresSince: "failures_since = since"
        case .incarnation: "incarnation = incarnation - 1"
        case .generationFailed, .generationRefused: "generation_failed = 3, generation_refused = 4"
        case .outageSince: "outage_since = since"
        case .outageFailed, .outageRefused: "outage_since = since, outage_failed = 3, outage_refused = 4"
        case .tripReason: "outage_since = since, trip_reason = 'else'"
        case .tripFailed, .tripCalls: "outage_since = since, \(column.name) = 9"
        case .mode: "mode = 'enforcing'"
        case .rules: "rules = json_set(rules, '$.minimumReporters', 3)"
        case .id, .registered, .since, .epoch, .windowGeneration, .trips, .holdSince, .holdUntil:
            "\(column.name) = \(column.name) + 1"
        }
    }

    private static func quoted(_ value: SQLValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .text(let text): "'\(text)'"
        }
    }
}
