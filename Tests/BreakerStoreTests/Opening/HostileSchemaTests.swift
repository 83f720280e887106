import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What somebody has made of the schema of a store's file: nothing of it is ever run, and what is not the library's to
/// the byte is not used.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct HostileSchemaTests {
    private static var canary: String { get throws { try Workplace.here.directory + "/canary" } }
    private static let texts = "SELECT group_concat(type || name || coalesce(sql, '')) FROM sqlite_schema"

    /// A store with a circuit that has one failure, and what others have made of it.
    private static func make(_ sql: String = "") throws -> String {
        let path = try Workplace.here.store
        try Stores.make(path)
        Foreign.run(path, sql)
        return path
    }

    private static func rewrite(_ set: String, _ condition: String) -> String {
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET \(set) WHERE \(condition)"
    }

    private static var isQuarantined: Bool {
        get throws { try !Files.quarantine(in: Workplace.here.directory).isEmpty }
    }

    /// Opens the file in every way, and uses it as far as that goes; returns what each way threw.
    private static func use(_ path: String) throws -> [BreakerStoreError] {
        try [Access.readOnly, .existing, .readWrite].compactMap { access in
            do {
                let store = try CircuitStore(path: path, configuration: Stores.configuration(access))
                defer { store.close() }
                _ = try store.circuits()
                _ = try store.history()
                _ = try store.workers()
                guard access != .readOnly else { return nil }
                let breaker = try store.breaker(Stores.config("own"))
                for _ in 0..<2 { breaker.recordFailure() }
                #expect(!breaker.isCallPermitted)
                #expect(store.isHealthy)
                _ = try store.forget("own")
            } catch let error as BreakerStoreError {
                return error
            }
            return nil
        }
    }

    // MARK: - What is not used

    /// Each is refused by all, and nothing is changed; the error names the object and the way out.
    @Test(arguments: [
        ("ALTER TABLE circuit ADD COLUMN owner TEXT", "the table 'circuit' is not"),
        (
            "DELETE FROM failure; ALTER TABLE failure ADD COLUMN x INT DEFAULT 0 CHECK (x > 0)",
            "the table 'failure' is not"
        ),
        ("ALTER TABLE event RENAME TO other; ALTER TABLE other RENAME TO event", "the table 'event' is not"),
        ("DROP TABLE counters; CREATE VIEW counters AS SELECT 1", "the view 'counters' is not"),
        ("DROP TABLE counters", "the table 'counters' is missing"),
        ("DROP INDEX event_by_circuit", "the index 'event_by_circuit' is missing"),
        (
            "DROP INDEX event_by_circuit; CREATE INDEX event_by_circuit ON worker (pid)",
            "the index 'event_by_circuit' is not"
        ),
        ("PRAGMA user_version = 3001; ALTER TABLE worker ADD COLUMN later TEXT", "the table 'worker' is not"),
        // A file of 1.0 has none of these columns.
        ("PRAGMA user_version = 2000", "the table 'clock' is not"),
        ("PRAGMA user_version = -1", "the table 'clock' is not"),
        // SQLite would run none of these, and reads the first statement alone.
        (rewrite("sql = sql || '; SELECT 1'", "name = 'worker'"), "the table 'worker' is not"),
        // Here it takes the text for over at the zero byte.
        (
            rewrite("sql = replace(sql, ') STRICT', ') --' || char(0, 10) || ' STRICT')", "name = 'worker'"),
            "the table 'worker' is not"
        ),
        (rewrite("sql = sql || ' '", "name = 'event_by_circuit'"), "the index 'event_by_circuit' is not"),
        (rewrite("name = 'Worker'", "name = 'worker'"), "the table 'Worker' is not"),
        (rewrite("type = 'TABLE'", "name = 'worker'"), "the TABLE 'worker' is not"),
        (rewrite("sql = 'CREATE TABLE sqlite_sequence(name,seq,x)'", "name = 'sqlite_sequence'"), "'sqlite_sequence'"),
    ])
    func textThatDiffersIsRefused(sql: String, object: String) throws {
        let path = try Self.make(sql)
        let bytes = Files.read(path)
        let errors = try Self.use(path)
        #expect(errors.map(\.code) == Array(repeating: .foreignSchema, count: 3), "\(errors)")
        for error in errors {
            #expect(error.message.contains(object), "\(error)")
            #expect(error.advice?.contains("breaker-inspect set-aside") == true)
        }
        let isUntouched = Files.read(path) == bytes
        #expect(isUntouched)
        #expect(try !Self.isQuarantined)
    }

    static let indexes = [
        "CREATE INDEX strange ON event (at)", "CREATE UNIQUE INDEX strange ON failure (circuit)",
        "CREATE INDEX strange ON failure (circuit, length(hex(zeroblob(400000))))",
        "CREATE INDEX strange ON failure (circuit) WHERE at > 5",
        // SQLite minds no case where it reads the type of an object, and ends names at a zero byte.
        "CREATE UNIQUE INDEX strange ON failure (1); " + rewrite("type = 'INDEX'", "name = 'strange'"),
        "CREATE UNIQUE INDEX strange ON failure (1); "
            + rewrite("tbl_name = 'FAILURE' || char(0) || 'x'", "name = 'strange'"),
    ]

    @Test(arguments: Self.indexes)
    func indexOfOthersIsRefused(sql: String) throws {
        let path = try Self.make(sql)
        let bytes = Files.read(path)
        let errors = try Self.use(path)
        #expect(errors.map(\.code) == Array(repeating: .foreignSchema, count: 3), "\(errors)")
        for error in errors { #expect(error.advice == "drop index strange", "\(error)") }
        let isUntouched = Files.read(path) == bytes
        #expect(isUntouched)
        Foreign.run(path, Self.rewrite("type = 'index', tbl_name = lower(tbl_name)", "name = 'strange'"))
        Foreign.run(path, "DROP INDEX strange")
        #expect(try Self.use(path).isEmpty)
        #expect(Foreign.value(path, "SELECT name FROM circuit") == "a")
    }

    /// What goes behind a text of the schema, or in the place of it; CANARY is a file that must not come into being.
    static let statements = [
        "; VACUUM INTO 'CANARY'", "; ATTACH 'CANARY' AS c; CREATE TABLE c.pwned (x)", "; PRAGMA journal_mode = DELETE",
        "; CREATE TABLE pwned (x); INSERT INTO pwned WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
            + "SELECT x FROM n",
        " -- \n; VACUUM INTO 'CANARY'", " /* */; VACUUM INTO 'CANARY'",
    ]

    @Test(arguments: Self.statements, ["table", "index"])
    func statementBehindATextIsNotRun(statement: String, type: String) throws {
        let text = statement.replacing("CANARY", with: try Self.canary).replacing("'", with: "''")
        let path = try Self.make(Self.rewrite("sql = sql || '\(text)'", "type = '\(type)' AND sql IS NOT NULL"))
        let errors = try Self.use(path)
        #expect(errors.map(\.code) == Array(repeating: .foreignSchema, count: 3), "\(errors)")
        #expect(Files.read(try Self.canary) == nil)
        #expect(Foreign.value(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'pwned'") == "0")
    }

    /// SQLite itself calls these schemas malformed: it trusts no function that might do harm, in a table of anybody.
    @Test(arguments: [
        rewrite("sql = replace(sql, ') STRICT', ', x TEXT CHECK ((1, 2) > 3)) STRICT')", "name = 'worker'"),
        rewrite("name = 'walker'", "name = 'worker'"), rewrite("tbl_name = 'walker'", "name = 'event_by_circuit'"),
        "CREATE TABLE mine (x TEXT); "
            + rewrite("sql = 'CREATE TABLE mine (x TEXT CHECK (json_valid(x)))'", "name = 'mine'"),
    ])
    func schemaThatSQLiteRefusesIsQuarantined(sql: String) throws {
        let path = try Self.make(sql)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(try Self.isQuarantined)
        #expect(store.isHealthy)
    }

    /// No byte of the library's rows can be another one.
    ///
    /// Of three neighbours one has its lowest bit changed, one its case, and one its highest bit.
    @Test func noChangedByteIsUsed() throws {
        let path = try Self.make("PRAGMA journal_mode = DELETE; VACUUM")
        let whole = try #require(Files.read(path))
        var refusals: [BreakerStoreError.Code: Int] = [:]
        for row in Schema.rows {
            let places = try Self.places(of: row, in: whole)
            #expect(places.count == row.type.count + row.name.count + row.table.count + row.sql.count)
            for (number, place) in places.enumerated() {
                var bytes = whole
                bytes[place] ^= [0x01, 0x20, 0x80][number % 3]
                Files.write(bytes, to: path)
                let connection = try Connection(path: path, access: .immutable)
                do {
                    _ = try connection.integer("SELECT count(*) FROM circuit")
                    Issue.record("byte \(place) of '\(row.shownName)' is not minded")
                } catch {
                    refusals[error.code, default: 0] += 1
                }
            }
        }
        #expect(Set(refusals.keys) == [.foreignSchema, .corrupt], "\(refusals)")
    }

    /// Where the type, the name, the table and the text of a row stand in the file.
    private static func places(of row: SchemaRow, in bytes: [UInt8]) throws -> [Int] {
        let names = row.type + row.name + row.table
        let start = try #require(
            bytes.indices.first { start in
                // The number of the first page is one byte.
                bytes[start...].starts(with: names) && bytes[(start + names.count + 1)...].starts(with: row.sql)
            })
        let text = start + names.count + 1
        return Array(start..<start + names.count) + Array(text..<text + row.sql.count)
    }

    // MARK: - What is nobody's business

    @Test(arguments: [
        "CREATE TABLE later (x INTEGER CHECK (length(hex(zeroblob(x))) > 0)) STRICT; INSERT INTO later VALUES (1)",
        "CREATE TABLE later (x TEXT PRIMARY KEY, y UNIQUE); CREATE INDEX more ON later (y); PRAGMA user_version = 3001",
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN INSERT INTO pwned VALUES (1); END",
        // A trigger may have the name of a table or an index.
        "CREATE TRIGGER circuit AFTER INSERT ON event BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TRIGGER event_by_circuit AFTER INSERT ON event BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT * FROM circuit",
        // By this name a store makes a table of its own for a moment.
        "CREATE VIEW reserve AS SELECT * FROM circuit", "CREATE TABLE reserve (seats INTEGER)",
        "CREATE VIRTUAL TABLE reserve USING fts5 (x)",
        "ANALYZE; UPDATE sqlite_stat1 SET stat = '9223372036854775807 -1 x unordered sz=0'",
        // By an order that SQLite does not know the table can't be looked through.
        "CREATE TABLE mine (x TEXT COLLATE NOCASE PRIMARY KEY); INSERT INTO mine VALUES ('a'); "
            + rewrite("sql = replace(sql, 'NOCASE', 'german')", "name = 'mine'"),
        // To the byte the same, in another order.
        "VACUUM",
    ])
    func whatOthersHaveMadeIsIgnored(sql: String) throws {
        let path = try Self.make(sql)
        let texts = Foreign.value(path, Self.texts)
        for _ in 0..<2 { #expect(try Self.use(path).isEmpty) }
        #expect(Foreign.value(path, Self.texts) == texts)
        #expect(Foreign.value(path, "SELECT name FROM circuit") == "a")
    }

    // MARK: - Connections

    /// A connection that changes the schema itself reads anew what others have made of it meanwhile.
    @Test func tablesAreComparedAgainAfterAChangeOfTheSchema() throws {
        let path = try Self.make()
        let connection = try Connection(path: path, access: .readWrite)
        #expect(try connection.integer("SELECT count(*) FROM circuit") == 1)
        Foreign.run(path, "ALTER TABLE circuit ADD COLUMN more INTEGER CHECK (more LIKE name)")
        try connection.changeSchema("CREATE TABLE own (x); DROP TABLE own")
        let error = #expect(throws: BreakerStoreError.self) { try connection.integer("SELECT count(*) FROM circuit") }
        #expect(error?.code == .foreignSchema)
    }

    /// What no connection of the library does, whatever leads to it.
    @Test(arguments: [
        "ATTACH 'CANARY' AS c", "VACUUM INTO 'CANARY'", "DETACH main", "SELECT load_extension('CANARY')",
        "CREATE TEMP TABLE t (x)", "CREATE VIRTUAL TABLE v USING fts5(x)", "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END", "ANALYZE", "SAVEPOINT a",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT count(*) FROM n",
    ])
    func connectionDoesOnlyWhatTheLibraryDoes(sql: String) throws {
        let path = try Self.make()
        let text = sql.replacing("CANARY", with: try Self.canary)
        for access in [Connection.Access.readWrite, .immutable, .sharedReader] {
            let connection = try Connection(path: path, access: access)
            #expect(throws: BreakerStoreError.self) { try connection.prepare(text).run() }
            #expect(throws: BreakerStoreError.self) { try connection.execute(text) }
            #expect(throws: BreakerStoreError.self) { try connection.changeSchema(text) }
        }
        #expect(Files.read(try Self.canary) == nil)
    }

    @Test(arguments: [
        "CREATE TABLE t (x)", "DROP TABLE circuit", "ALTER TABLE circuit ADD COLUMN x", "REINDEX",
        "PRAGMA writable_schema = ON", "PRAGMA table_info(circuit)", "SELECT * FROM pragma_table_info('circuit')",
        "SELECT hex(name) FROM circuit", "SELECT * FROM stranger", "UPDATE sqlite_schema SET sql = ''",
    ])
    func statementIsOneOfTheLibrary(sql: String) throws {
        let path = try Self.make("CREATE TABLE stranger (x)")
        let connection = try Connection(path: path, access: .readWrite)
        #expect(throws: BreakerStoreError.self) { try connection.prepare(sql).run() }
        #expect(throws: BreakerStoreError.self) { try connection.execute(sql) }
    }
}
