import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Files of schema 2.0 and 2.1, as releases 0.5.0 and 0.5.1 have left them, are migrated to this schema with all that
/// they hold; older ones are refused.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct OlderFileTests {
    static let versions = ["2.0", "2.1"]

    /// Makes a file of that version; returns its path.
    static func make(_ version: String, adding sql: String = "") throws -> String {
        let path = try Workplace.here.directory + "/a.db"
        let folder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Fixtures"
        let dumps = try Self.versions.prefix { $0 <= version }.map {
            try #require(Files.read("\(folder)/schema-\($0).sql"))
        }
        Foreign.run(path, String(decoding: dumps.joined(), as: UTF8.self) + sql)
        return path
    }

    static func number(_ version: String) -> String { version == "2.0" ? "2000" : "2001" }

    /// Migrates the file, before a worker deletes what the dead have left.
    private static func migrate(_ path: String) throws -> [String] {
        let connection = try Connection(path: path, access: .readWrite)
        return try Schema.migrate(connection, StoreFile(resolving: path))
    }

    /// All circuits, from columns that both schemas have and those whose names or places differ.
    private static func circuits(_ columns: String) -> String {
        """
        SELECT json_group_array(json_array(id, name, registered, mode, state, since, epoch, successes, trips, open_until,
        forgotten_until, last_error, outage_since, outage_failed, outage_refused, trip_reason, trip_failed, trip_calls,
        hold, hold_since, hold_until, hold_by, hold_reason, failures_since, \(columns)))
        FROM (SELECT * FROM circuit ORDER BY id)
        """
    }

    private static let older = circuits(
        """
        birth, label, stretch, stretch_failed, stretch_refused, failures,
        CASE rule WHEN 'consecutive' THEN 'consecutiveFailures' WHEN 'rate' THEN 'failureRate' ELSE rule END, rule_count,
        nullif(rule_window, 0), rule_share, slow_threshold, slow_share, slow_count, slow_window, recovery,
        recovery_multiplier, recovery_cap, recovery_jitter, probe_limit, probe_successes, probe_lease, minimum_reporters
        """)
    private static let newer = circuits(
        """
        incarnation, group_name, window_generation, generation_failed, generation_refused, failure_count,
        rules ->> '$.trip.rule', coalesce(rules ->> '$.trip.count', rules ->> '$.trip.minimumCalls'),
        rules ->> '$.trip.windowMicroseconds', rules ->> '$.trip.share', rules ->> '$.slow.thresholdMicroseconds',
        rules ->> '$.slow.share', rules ->> '$.slow.minimumCalls', rules ->> '$.slow.windowMicroseconds',
        rules ->> '$.recovery.timeoutMicroseconds', rules ->> '$.recovery.multiplier',
        rules ->> '$.recovery.capMicroseconds', rules ->> '$.recovery.jitter', rules ->> '$.probes.limit',
        rules ->> '$.probes.successesToClose', rules ->> '$.probes.leaseMicroseconds', rules ->> '$.minimumReporters'
        """)

    /// The rows of the other tables, in the older and in the newer schema.
    private static let others: [(older: String, newer: String)] = [
        ("SELECT * FROM clock", "SELECT * FROM clock"),
        ("SELECT * FROM failure", "SELECT * FROM failure"), ("SELECT * FROM probe", "SELECT * FROM probe"),
        ("SELECT * FROM worker", "SELECT * FROM worker"), ("SELECT * FROM event", "SELECT * FROM event"),
        ("SELECT * FROM registration", "SELECT * FROM registration"),
        ("SELECT * FROM tally", "SELECT * FROM counters"), ("SELECT * FROM duration", "SELECT * FROM duration"),
        ("SELECT * FROM transition", "SELECT * FROM transition"), ("SELECT * FROM word", "SELECT * FROM command"),
        (
            "SELECT name, seq FROM sqlite_sequence ORDER BY name",
            "SELECT name, seq FROM sqlite_sequence ORDER BY name"
        ),
    ]

    @Test(arguments: Self.versions) func allIsKept(version: String) throws {
        let path = try Self.make(version)
        let circuits = Foreign.value(path, Self.older)
        #expect(circuits?.contains("failureRate") == true && circuits?.contains("consecutiveFailures") == true)
        let others = Self.others.map { Foreign.rows(path, $0.older) }
        let predecessors = version == "2.1" ? Foreign.rows(path, "SELECT * FROM predecessor") : []
        #expect(others.allSatisfy { $0 != [] } && (version == "2.0" || predecessors.count == 2))
        #expect(try Self.migrate(path) == [])
        #expect(Foreign.value(path, Self.newer) == circuits)
        for (pair, rows) in zip(Self.others, others) { #expect(Foreign.rows(path, pair.newer) == rows, "\(pair)") }
        #expect(Foreign.rows(path, "SELECT * FROM predecessor") == predecessors)
        #expect(Foreign.value(path, "PRAGMA user_version") == "3000")
        #expect(Foreign.value(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'breakerstore%'") == "0")
        let connection = try Connection(path: path, access: .readWrite)
        #expect(try connection.verifySchema() == false)
        // Registering the same rules changes nothing.
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let before = try store.circuits().filter { $0.name == "rate" }.map(\.config)
        #expect(before.first?.trip.share == 0.3 && before.first?.recovery.multiplier == 1.7)
        _ = try store.breakers(before)
        #expect(try store.circuits().filter { $0.name == "rate" }.map(\.config) == before)
        #expect(try store.history(of: "rate").allSatisfy { $0.kind != .configured })
    }

    /// A large file is searched for keys that are too long.
    @Test(arguments: Self.versions) func aLargeFileIsWhole(version: String) throws {
        let path = try Self.make(
            version, adding: "UPDATE circuit SET last_error = hex(zeroblob(10000000)) WHERE name = 'open';")
        func isWhole() throws -> Bool {
            try Database(Connection(path: path, access: .immutable, acceptsOlder: true)).isWhole()
        }
        #expect(try isWhole())
        Foreign.run(path, "UPDATE event SET circuit = hex(zeroblob(10000000)) WHERE id = 1")
        let error = #expect(throws: BreakerStoreError.self) { _ = try isWhole() }
        #expect(error?.code == .corrupt && error?.message.contains("a key is longer") == true)
    }

    /// The newest event is gone, and its number does not come again: readers ask for what is behind it.
    @Test(arguments: Self.versions) func numbersGoOn(version: String) throws {
        let path = try Self.make(version)
        let number = Foreign.value(path, "SELECT seq FROM sqlite_sequence WHERE name = 'event'")
        let newest = try #require(number.flatMap(Int64.init))
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        try store.reset("closed")
        #expect(try store.history(after: newest, limit: 10).map(\.kind) == [.reset])
        #expect(store.isHealthy)
    }

    /// Other programs' tables and views stay, whether they work or not; only triggers on tables that change go with
    /// these.
    @Test(arguments: Self.versions) func otherProgramsTablesStay(version: String) throws {
        let path = try Self.make(
            version,
            adding: """
                CREATE VIEW broken AS SELECT missing FROM circuit; CREATE VIEW names AS SELECT name FROM circuit;
                CREATE TABLE other (id INTEGER PRIMARY KEY, circuit INTEGER REFERENCES circuit (id) ON DELETE CASCADE);
                INSERT INTO other VALUES (1, 1), (2, 99);
                CREATE TRIGGER watch AFTER INSERT ON event BEGIN INSERT INTO other VALUES (NULL, 7); END;
                CREATE TRIGGER broken AFTER DELETE ON circuit BEGIN SELECT missing(1); END;
                CREATE TRIGGER own AFTER INSERT ON other BEGIN SELECT 1; END;
                """)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        let breaker = try store.breaker(Stores.config("new"))
        for _ in 0..<2 { breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
        let left = """
            SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY 1)
            """
        #expect(Foreign.value(path, left) == "broken,names,own,watch")
        #expect(Foreign.value(path, "SELECT group_concat(id || ' ' || circuit) FROM other") == "1 1,2 99")
        #expect(Foreign.value(path, "SELECT count(*) > 3 FROM names") == "1")
        let reasons = try store.history(limit: 20).filter { $0.circuit == nil }.compactMap(\.reason)
        #expect(reasons.contains { $0.hasSuffix("which never ran: 'broken'") }, "\(reasons)")
    }

    /// A row of a wrong type, and one that breaks a rule of its table, is left behind, and the others are migrated.
    @Test(arguments: [
        ("circuit", "circuit", "UPDATE circuit SET epoch = 'x' WHERE id = 1"),
        ("circuit", "circuit", "UPDATE circuit SET trips = -1 WHERE id = 1"),
        ("word", "command", "UPDATE word SET floor = 'x' WHERE number = 77"),
    ])
    func aBadRowIsLeftBehind(table: String, newTable: String, harm: String) throws {
        let path = try Self.make("2.1")
        let before = try #require(Foreign.number(path, "SELECT count(*) FROM \(table)"))
        let text = try #require(Foreign.value(path, "SELECT sql FROM sqlite_schema WHERE name = '\(table)'"))
        let texts = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
        Foreign.run(path, "\(texts) replace(replace(sql, ') STRICT,', ')'), ') STRICT', ')') WHERE name = '\(table)'")
        Foreign.run(
            path,
            """
            PRAGMA ignore_check_constraints = ON; \(harm);
            \(texts) '\(text.replacing("'", with: "''"))' WHERE name = '\(table)'
            """)
        #expect(try Self.migrate(path) == [])
        #expect(Foreign.value(path, "PRAGMA user_version") == "3000")
        #expect(Foreign.number(path, "SELECT count(*) FROM \(newTable)") == before - 1)
    }

    /// A broken file is quarantined with all its bytes, as a broken file of this schema is.
    @Test(arguments: Self.versions) func aBrokenFileIsQuarantined(version: String) throws {
        let path = try Self.make(version)
        Files.write(LockFile.magic, to: path + "-lock")
        var bytes = try #require(Files.read(path))
        let page = 4_096
        for place in stride(from: page, to: bytes.count, by: page) where bytes[place] != 0 { bytes[place] = 0x55 }
        Files.write(bytes, to: path)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        let kept = try Files.quarantine(in: Workplace.here.directory).first { $0.hasPrefix("a.db.") }
        #expect(try Files.read("\(Workplace.here.directory)/\(kept ?? "")") == bytes)
    }

    /// A checkpoint of the release before was cut short, and has torn the first page: the log has a whole one.
    @Test(arguments: Self.versions) func aTornFirstPageIsInTheLog(version: String) throws {
        let path = try Self.make(version)
        Files.write(LockFile.magic, to: path + "-lock")
        Foreign.run(path, "PRAGMA user_version = \(Self.number(version))", keepsLog: true)
        var bytes = try #require(Files.read(path))
        bytes.replaceSubrange(0..<64, with: repeatElement(0x55, count: 64))
        Files.write(bytes, to: path)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        #expect(try store.circuit(named: "held-open")?.hold?.state == .open)
    }

    /// A process that only reads sees the circuits as they will be after the migration, and changes nothing.
    @Test(arguments: Self.versions) func aReaderReadsIt(version: String) throws {
        let path = try Self.make(version)
        let reader = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly))
        let before = try reader.circuits()
        #expect(before.count == 11 && before.allSatisfy { $0.config.trip.share != nil || $0.config.trip.count != nil })
        #expect(try reader.history(limit: 100).count > 5)
        #expect(try reader.facts().schemaVersion == version)
        #expect(Foreign.value(path, "PRAGMA user_version") == Self.number(version))
        #expect(try Self.migrate(path) == [])
        let after = try reader.circuits()
        #expect(after.map(\.config) == before.map(\.config) && after.map(\.totals) == before.map(\.totals))
        #expect(after.map(\.state) == before.map(\.state) && after.map(\.hold) == before.map(\.hold))
    }

    /// Releases up to 0.4 have made such files: release 0.5 can migrate them.
    @Test(arguments: [1_000, 1_001]) func aFileOfSchema1IsRefused(version: Int) async throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        Foreign.run(path, "PRAGMA user_version = \(version)")
        let before = try Listing(Workplace.here.directory)
        for access in [Access.readWrite, .existing, .readOnly] {
            let error = await #expect(throws: BreakerStoreError.self) {
                _ = try await CircuitStore(path: path, configuration: Stores.configuration(access)).circuits()
            }
            #expect(error?.code == .olderSchema, "\(error as Any)")
            #expect(error?.message == "the file has schema 1.\(version - 1_000), which this release no longer migrates")
            #expect(error?.advice?.contains("open it once with release 0.5") == true)
            #expect(try Listing(Workplace.here.directory) == before)
        }
    }
}
