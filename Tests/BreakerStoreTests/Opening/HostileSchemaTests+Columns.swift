import BreakerStoreMigrations
import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Columns that somebody has added to the table of failures, and that refuse the rows of the library.
extension HostileSchemaTests {
    private static func add(_ columns: String, toFailuresIn path: String) {
        let added = columns.split(separator: "; ").map { "ALTER TABLE failure ADD COLUMN \($0)" }
        Foreign.run(path, "DELETE FROM failure; " + added.joined(separator: "; "))
    }

    /// A column that refuses each row of a failure: no store is healthy that does not trip.
    @Test(arguments: ["severity > 0", "severity IS NOT 0", "NOT (severity BETWEEN 0 AND 1)", "0"])
    func columnThatRefusesFailuresKeepsNothingFromTripping(check: String) throws {
        let path = try Self.make()
        Self.add("severity INTEGER DEFAULT 0 CHECK (\(check))", toFailuresIn: path)
        try Self.use(path)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    /// Columns of a failure that SQLite reads in another way than one might think, each so that a row is refused.
    @Test(arguments: [
        // The number -1, and whole numbers that no Double tells apart.
        "x INTEGER DEFAULT 5 CHECK (x < 0xFFFFFFFFFFFFFFFF)",
        "x INTEGER DEFAULT 9007199254740993 CHECK (x = 9007199254740992)",
        "x INTEGER DEFAULT 0xffffffffffffff CHECK (x > 0xfffffffffffffe)",
        // SQLite takes capitals for small letters in ASCII alone, and compares bytes.
        "\u{e9} INTEGER DEFAULT 0 CHECK (\u{e9} > 0); \u{c9} INTEGER DEFAULT 1",
        "\u{e9} INTEGER DEFAULT 0 CHECK (\u{e9} > 0); e\u{301} INTEGER DEFAULT 1",
        // Whether it is true, not whether it is 1.
        "x INTEGER DEFAULT 5 CHECK (x IS NOT TRUE)", "x INTEGER DEFAULT 5 CHECK (x IS NOT (TRUE))",
        // A name here, and the day there.
        "current_date TEXT DEFAULT 'x' CHECK (current_date = 'x')",
    ])
    func columnThatIsReadOtherwiseKeepsNothingFromTripping(columns: String) throws {
        let path = try Self.make()
        Self.add(columns, toFailuresIn: path)
        try Self.use(path)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    /// Bytes that are no text, which Swift can't tell apart.
    @Test(arguments: [
        "a TEXT DEFAULT 'ONE' CHECK (a = 'TWO')",
        "ONE INTEGER DEFAULT 0 CHECK (ONE > 0); TWO INTEGER DEFAULT 1",
    ])
    func bytesThatAreNoTextKeepNothingFromTripping(columns: String) throws {
        let path = try Self.make()
        Self.add(columns, toFailuresIn: path)
        Self.rewrite(
            path, "sql = replace(replace(sql, 'ONE', CAST(x'ff' AS TEXT)), 'TWO', CAST(x'fe' AS TEXT))",
            "name = 'failure'")
        try Self.use(path)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    /// Texts have another order there.
    @Test func columnOfAStoreInUTF16KeepsNothingFromTripping() throws {
        let path = try Workplace.here.store
        let schema = String(decoding: Migration.schema, as: UTF8.self)
        Foreign.run(
            path,
            """
            PRAGMA encoding = 'UTF-16le'; PRAGMA journal_mode = WAL; \(schema)
            ALTER TABLE failure ADD COLUMN a TEXT DEFAULT '\u{ff}' CHECK (a < '\u{100}');
            PRAGMA user_version = \(Schema.version); PRAGMA application_id = \(Schema.applicationID)
            """)
        try Self.use(path)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    /// Somebody adds it while a worker has the file open.
    @Test func columnThatRefusesFailuresIsNoticedByARunningStore() async throws {
        let path = try Self.make()
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("a"))
        Self.add("x INTEGER DEFAULT 0 CHECK (x > 0)", toFailuresIn: path)
        await breaker.recordFailure()
        #expect(await eventually { store.isHealthy })
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
        #expect(store.isHealthy)
    }
}
