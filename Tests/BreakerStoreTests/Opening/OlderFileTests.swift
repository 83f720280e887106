import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Files of schema 1.0 and 1.1, as killed workers of releases 0.1.2 and 0.4.3 have left them, are moved to this schema
/// with all that they hold.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct OlderFileTests {
    static let versions = ["1.0", "1.1"]

    /// Makes a file of that version; returns its path.
    static func make(_ version: String, adding sql: String = "") throws -> String {
        let path = try Workplace.here.directory + "/a.db"
        let folder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Fixtures"
        let dump = try #require(Files.read("\(folder)/schema-\(version).sql"))
        Foreign.run(path, String(decoding: dump, as: UTF8.self) + sql)
        return path
    }

    /// What the step makes of it, before a worker sweeps what the dead have left.
    private static func move(_ path: String) throws -> [String] {
        let connection = try Connection(path: path, access: .readWrite)
        return try Schema.migrate(connection, StoreFile(resolving: path))
    }

    /// Instants are seconds of the first of January 2026.
    private static let circuits = """
        SELECT group_concat(line, char(10)) FROM (SELECT name || ': ' || mode || ' ' || rule || ' ' || rule_count || '/'
        || (rule_window / 1000000) || ' ' || coalesce(rule_share, '-') || ' ' || coalesce(slow_threshold, '-') || ' '
        || state || ' ' || ((epoch - 1767225600000000) / 1000000) || ' '
        || coalesce((open_until - 1767225600000000) / 1000000, '-') || ' ' || trips || ' '
        || coalesce((outage_since - 1767225600000000) / 1000000, '-') || ' ' || coalesce(hold, '-') || ' '
        || coalesce(trip_reason, '-') AS line FROM circuit ORDER BY name)
        """
    private static let tripped = "3 failures within 60 s, the last: Boom"
    private static let shared = "4 of 4 calls (100 %) failed within 60 s, the last: Boom"
    private static let expected = [
        "1.0": [
            "closed: enforcing failures 3/60 - - closed 0 - 0 - - -",
            "forgotten: enforcing failures 3/60 - - closed 0 - 0 - - -",
            "half-open: enforcing failures 3/60 - - open 1 31 1 1 - \(tripped)",
            "held-closed: enforcing failures 3/60 - - closed 34 - 0 - closed -",
            "held-open: enforcing failures 3/60 - - closed 34 - 0 - open -",
            "in-a-row: enforcing failures 5/60 - - closed 0 - 0 - - -",
            "open: enforcing failures 3/60 - - open 33 63 1 33 - \(tripped)",
            "reset: enforcing failures 3/60 - - closed 34 - 0 - - -",
        ],
        "1.1": [
            "closed: enforcing failures 3/60 - - closed 0 - 0 - - -",
            "half-open: enforcing failures 3/60 - - half-open 32 - 1 1 - \(tripped)",
            "held-closed: enforcing failures 3/60 - - closed 34 - 0 - closed -",
            "held-open: enforcing failures 3/60 - - closed 34 - 0 - open -",
            "in-a-row: enforcing consecutive 3/0 - - closed 0 - 0 - - -",
            "open: enforcing failures 3/60 - - open 33 63 1 33 - \(tripped)",
            "rate: enforcing rate 4/60 0.5 - open 34 94 1 34 - \(shared)",
            "reset: enforcing failures 3/60 - - closed 34 - 0 - - -",
            "slow: enforcing failures 3/60 - 100000 closed 0 - 0 - - -",
            "watched: observing failures 3/60 - - open 34 74 1 34 - \(tripped)",
            "watched-rate: observing rate 4/60 0.5 - open 34 74 1 34 - \(shared)",
        ],
    ]

    @Test(arguments: Self.versions) func allIsKept(version: String) throws {
        let path = try Self.make(version)
        func value(_ sql: String) -> String? { Foreign.value(path, sql) }
        let counted = "SELECT group_concat(circuit || ' ' || at || ' ' || worker || ' ' || sequence) FROM failure"
        let told = "SELECT group_concat(id || kind || at || coalesce(reason, '')) FROM event"
        let numbers = "SELECT group_concat(name || seq) FROM (SELECT name, seq FROM sqlite_sequence ORDER BY name)"
        let before = [counted, told, numbers].map(value)
        #expect(try Self.move(path) == [])
        #expect([counted, told, numbers].map(value) == before)
        #expect(value(Self.circuits) == Self.expected[version]?.joined(separator: "\n"))
        #expect(value("PRAGMA user_version") == "2001")
        #expect(value("SELECT sum(refused) FROM tally") == (version == "1.0" ? "2" : nil))
        if version == "1.1" { #expect(value("SELECT worker_name || (pid > 0) FROM probe") == "shop1") }
        #expect(value("SELECT (reserved - 1767225600000000) / 1000000 FROM clock") == (version == "1.0" ? "47" : "34"))
        #expect(value("SELECT birth > 0 AND wall = wall_at FROM clock") == "1")
        // Workers that live now can't use the file any longer, and their rows say so.
        #expect(value("SELECT group_concat(DISTINCT version) FROM worker") == "0.4 or older")
        #expect(value("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'breakerstore%'") == "0")
        let connection = try Connection(path: path, access: .readWrite)
        #expect(try connection.verifySchema() == false)
    }

    /// A large file is searched for keys that are too long, in the tables that its version has.
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

    /// A link tells the other hosts of a hold that somebody on this one has said before the move.
    @Test(arguments: Self.versions) func aHoldIsAWord(version: String) throws {
        let path = try Self.make(
            version, adding: "UPDATE circuit SET hold_by = 'fleet: ann' WHERE name = 'held-closed';")
        #expect(try Self.move(path) == [])
        let words = """
            SELECT group_concat(name || ' ' || kind || ' ' || word.hold || ' ' || (number > 0) || ' ' ||
            (said_at IS NULL AND floor = 0 AND at = hold_since AND hold_for IS hold_until - hold_since
            AND operator IS hold_by AND word.reason IS hold_reason)) FROM word JOIN circuit ON circuit.id = circuit
            """
        #expect(Foreign.value(path, words) == "held-open hold open 1 1")
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

    /// What others have made is theirs, whether it works or not; only triggers on the tables go with these.
    @Test(arguments: Self.versions) func whatOthersHaveMadeStays(version: String) throws {
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
        #expect(Foreign.value(path, left) == "broken,names,own")
        #expect(Foreign.value(path, "SELECT group_concat(id || ' ' || circuit) FROM other") == "1 1,2 99")
        #expect(Foreign.value(path, "SELECT count(*) > 3 FROM names") == "1")
        let told = try store.history(limit: 20).filter { $0.circuit == nil }.compactMap(\.reason)
        #expect(told.contains { $0.contains("'broken', 'watch'") || $0.contains("'watch', 'broken'") }, "\(told)")
    }

    /// A broken one is set aside with all its bytes, as one of this schema is.
    @Test(arguments: Self.versions) func aBrokenOneIsSetAside(version: String) throws {
        let path = try Self.make(version)
        Files.write(LockFile.magic, to: path + "-lock")
        var bytes = try #require(Files.read(path))
        let page = 4_096
        for place in stride(from: page, to: bytes.count, by: page) where bytes[place] != 0 { bytes[place] = 0x55 }
        Files.write(bytes, to: path)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        let kept = try Files.setAside(in: Workplace.here.directory).first { $0.hasPrefix("a.db.") }
        #expect(try Files.read("\(Workplace.here.directory)/\(kept ?? "")") == bytes)
    }

    /// A checkpoint of the release before was cut short, and has torn the first page: the log has a whole one.
    @Test(arguments: Self.versions) func aTornFirstPageIsInTheLog(version: String) throws {
        let path = try Self.make(version)
        Files.write(LockFile.magic, to: path + "-lock")
        Foreign.run(path, "PRAGMA user_version = \(version == "1.0" ? 1_000 : 1_001)", keepsLog: true)
        var bytes = try #require(Files.read(path))
        bytes.replaceSubrange(0..<64, with: repeatElement(0x55, count: 64))
        Files.write(bytes, to: path)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        #expect(try store.circuit(named: "held-open")?.hold?.state == .open)
    }

    /// Who only reads can't move the file, and says what is to be done.
    @Test(arguments: Self.versions) func aReaderSaysWhoCanMoveIt(version: String) throws {
        let path = try Self.make(version)
        let error = #expect(throws: BreakerStoreError.self) {
            _ = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly)).circuits()
        }
        #expect(error?.message == "the file has schema \(version), which this program can't read")
        #expect(error?.advice?.contains("moves it to schema 2.1") == true)
        #expect(Foreign.value(path, "PRAGMA user_version") == (version == "1.0" ? "1000" : "1001"))
    }

    /// A file of 0.5.0 gets the table that it lacks, and nothing else changes; what 0.5.0 has created has no creation.
    @Test func aFileOfSchema20GetsOneTable() throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        Foreign.run(path, "DROP TABLE predecessor; PRAGMA user_version = 2000")
        let rest = """
            SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_schema WHERE name <> 'predecessor' ORDER BY name)
            """
        let (before, birth) = (Foreign.value(path, rest), Foreign.value(path, "SELECT birth FROM clock"))
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        #expect(Foreign.value(path, "PRAGMA user_version") == "2001")
        #expect(Foreign.value(path, rest) == before)
        #expect(Foreign.value(path, "SELECT birth FROM clock") == birth)
        #expect(Foreign.value(path, "SELECT count(*) FROM predecessor") == "0")
        #expect(try store.circuit(named: "a")?.failureCount == 1)
    }
}
