import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Texts that somebody has written into the schema of a store's file: none of them is ever run.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct HostileSchemaTests {
    /// What goes behind a text of the schema; CANARY is a file that must not come into being.
    static let statements = [
        "; VACUUM INTO 'CANARY'",
        "; ATTACH 'CANARY' AS c; CREATE TABLE c.pwned (x)",
        "; CREATE TABLE pwned (x); INSERT INTO pwned WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
            + "SELECT x FROM n",
        "; PRAGMA journal_mode = DELETE",
        " -- \n; VACUUM INTO 'CANARY'",
        " /* */; VACUUM INTO 'CANARY'",
        ";",
        " ",
    ]

    /// What takes the place of a part of a text.
    static let replacements: [(String, String)] = [
        ("boot TEXT NOT NULL", "boot TEXT NOT NULL CHECK (boot LIKE '%')"),
        ("pid INTEGER NOT NULL", "pid INTEGER NOT NULL DEFAULT (length(randomblob(900000)))"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INTEGER AS (length(hex(zeroblob(9))))) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INTEGER CHECK (x LIKE name)) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x TEXT DEFAULT (hex(zeroblob(400000)))) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INTEGER UNIQUE) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, CHECK (pid < length(hex(name)))) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, UNIQUE (pid)) STRICT"),
        ("PRIMARY KEY (circuit, at, worker, sequence)", "PRIMARY KEY (circuit)"),
        // What is a name here is an operator there.
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x TEXT CHECK (x -> '$.a' IS NOT 5)) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, CONSTRAINT INT CHECK (pid > 0)) STRICT"),
        // It might refuse what the library writes.
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INTEGER CHECK (pid > 0)) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INTEGER NOT NULL) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INTEGER NOT NULL DEFAULT NULL) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INTEGER DEFAULT 'seven') STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x INT DEFAULT 9223372036854775808) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, x TEXT DEFAULT 'a' CHECK (x > 1)) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, like TEXT, x TEXT CHECK (x like name)) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, \"like\" TEXT CHECK (name like 'a')) STRICT"),
        ("since INTEGER NOT NULL\n) STRICT", "since INTEGER NOT NULL, glob TEXT CHECK (name glob glob)) STRICT"),
        // A column that is not the last.
        ("name TEXT NOT NULL,\n    pid", "name TEXT NOT NULL, x INTEGER AS (length(name)),\n    pid"),
        ("name TEXT NOT NULL,\n    pid", "other TEXT NOT NULL,\n    pid"),
    ]

    private static var canary: String { get throws { try Workplace.here.directory + "/canary" } }

    /// A store with a circuit that has one failure.
    static func make() throws -> String {
        let path = try Workplace.here.store
        try Stores.make(path)
        return path
    }

    static func rewrite(_ path: String, _ set: String, _ condition: String) {
        Foreign.run(path, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET \(set) WHERE \(condition)")
    }

    /// Opens it in every way; a store that may be written is healthy and trips afterwards, or says that it is not
    /// healthy.
    static func use(_ path: String) throws {
        for access in [Access.readOnly, .existing, .readWrite, .existing, .readOnly] {
            var configuration = Stores.configuration(access)
            configuration.whenUnavailable = .throwError
            guard let store = try? CircuitStore(path: path, configuration: configuration) else { continue }
            defer { store.close() }
            _ = try? store.circuits()
            _ = try? store.history()
            _ = try? store.workers()
            guard access != .readOnly else { continue }
            let breaker = try store.breaker(Stores.config("own"))
            for _ in 0..<2 { breaker.recordFailure() }
            #expect(!breaker.isCallPermitted)
            _ = try store.forget("own")
        }
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
    }

    @Test(arguments: Self.statements, ["table", "index"])
    func statementBehindATextIsNotRun(statement: String, type: String) throws {
        let path = try Self.make()
        let text = statement.replacing("CANARY", with: try Self.canary).replacing("'", with: "''")
        Self.rewrite(path, "sql = sql || '\(text)'", "type = '\(type)' AND sql IS NOT NULL")
        try Self.use(path)
        #expect(Files.read(try Self.canary) == nil)
        #expect(Foreign.value(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'pwned'") == "0")
    }

    /// SQLite would work these expressions out with each row.
    @Test(arguments: Self.replacements.indices)
    func expressionInATextIsNotUsed(index: Int) throws {
        let path = try Self.make()
        let (old, new) = Self.replacements[index]
        let quoted = (old.replacing("'", with: "''"), new.replacing("'", with: "''"))
        Self.rewrite(path, "sql = replace(sql, '\(quoted.0)', '\(quoted.1)')", "type = 'table'")
        #expect(Foreign.value(path, "SELECT count(*) FROM sqlite_schema WHERE instr(sql, '\(quoted.1)')") == "1")
        try Self.use(path)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    /// What a later version may add, and what harms nobody.
    @Test(arguments: [
        "ALTER TABLE circuit ADD COLUMN owner TEXT NOT NULL DEFAULT 'shop'",
        "ALTER TABLE circuit ADD COLUMN more_slow INTEGER NOT NULL DEFAULT -1 CHECK (more_slow >= -1)",
        "ALTER TABLE circuit ADD COLUMN kind TEXT CHECK (kind IN ('a', 'b') OR length(kind) BETWEEN 3 AND 9)",
        "ALTER TABLE circuit ADD COLUMN a REAL; ALTER TABLE circuit ADD COLUMN b BLOB",
        "ALTER TABLE circuit ADD COLUMN a REAL NULL DEFAULT 1e-3; ALTER TABLE circuit ADD COLUMN b REAL DEFAULT .5",
        "ALTER TABLE event ADD COLUMN 'owner' \"TEXT\" COLLATE NOCASE; ALTER TABLE event ADD COLUMN cost$ INTEGER",
        "ALTER TABLE event ADD COLUMN a INTEGER NOT NULL DEFAULT TRUE; ALTER TABLE event ADD COLUMN b INT DEFAULT (-0)",
        "ALTER TABLE event ADD COLUMN a BLOB DEFAULT x'00'; ALTER TABLE event ADD COLUMN b TEXT DEFAULT 'it''s'",
        "ALTER TABLE event ADD COLUMN Owner TEXT CHECK (owner <> '' AND (OWNER ISNULL OR length(\"owner\") NOT IN (1)))",
        "ALTER TABLE event ADD COLUMN \"a b\" TEXT CONSTRAINT filled CHECK (\"a b\" <> '' OR NOT \"a b\" IS NOT NULL)",
        "ALTER TABLE event ADD COLUMN a TEXT CHECK (a IN (" + (0..<50).map { "'\($0)'" }.joined(separator: ",") + "))",
        "ALTER TABLE event ADD COLUMN a TEXT DEFAULT 5; ALTER TABLE event ADD COLUMN b INT DEFAULT '7' CHECK (b < 8)",
        "ALTER TABLE event ADD COLUMN a INTEGER DEFAULT 9223372036854775807; ALTER TABLE event ADD COLUMN b REAL "
            + "DEFAULT 12345678901234567890",
        "ALTER TABLE event ADD COLUMN gr\u{f6}\u{df}e TEXT DEFAULT 'klein' CHECK (gr\u{f6}\u{df}e IN ('gro\u{df}', 'klein'))",
        "ALTER TABLE event RENAME TO other; ALTER TABLE other RENAME TO event",
        "ALTER TABLE registration RENAME TO other; ALTER TABLE other RENAME TO registration",
        "DROP INDEX event_by_circuit; CREATE INDEX \"event_by_circuit\" ON \"event\" (circuit)",
        // Before the key of the table, which the text names last.
        "ALTER TABLE failure ADD COLUMN note TEXT", "ALTER TABLE probe ADD COLUMN note TEXT DEFAULT 'x'",
        "ALTER TABLE circuit ADD COLUMN \"owner\" TEXT; ALTER TABLE circuit ADD COLUMN [check] TEXT",
        "ALTER TABLE event ADD COLUMN \"a \"\"b, c\"\"\" INTEGER; ALTER TABLE event ADD COLUMN `d``)` INTEGER",
        "CREATE TABLE later (x INTEGER CHECK (length(hex(zeroblob(x))) > 0)) STRICT; INSERT INTO later VALUES (1)",
        "CREATE INDEX mine ON event (at DESC, kind)",
        "CREATE INDEX \"mine \"\"too\"\"\" ON event (kind COLLATE 'nocase', \"at\" DESC)",
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN INSERT INTO pwned VALUES (1); END",
        "CREATE VIEW v AS SELECT * FROM circuit",
        "DROP INDEX event_by_circuit",
        // A trigger may have the name of a table or an index.
        "CREATE TRIGGER circuit AFTER INSERT ON event BEGIN SELECT 1; END",
        "CREATE TRIGGER event_by_circuit AFTER INSERT ON event BEGIN SELECT 1; END",
        // By this name a store makes a table of its own for a moment.
        "CREATE VIEW reserve AS SELECT * FROM circuit",
        "CREATE INDEX Reserve ON event (at)",
        "CREATE TABLE reserve (seats INTEGER); INSERT INTO reserve VALUES (7)",
        "CREATE VIRTUAL TABLE reserve USING fts5 (x)",
    ])
    func harmlessAdditionIsLeftAlone(sql: String) throws {
        let path = try Self.make()
        Foreign.run(path, sql)
        let text = Foreign.value(path, "SELECT group_concat(sql) FROM sqlite_schema")
        try Self.use(path)
        #expect(Foreign.value(path, "SELECT group_concat(sql) FROM sqlite_schema") == text)
        #expect(Foreign.value(path, "SELECT count(*) FROM circuit WHERE name = 'a'") == "1")
    }

    /// SQLite takes a text for over at its first zero byte, also in a comment; it counts the columns of its own tables;
    /// it finds a schema malformed that has a function in a CHECK, in a table of anybody, which it does not trust, or
    /// makes no sense; and it minds no case where it reads the type of an object, but where it drops an index.
    @Test(arguments: [
        ("sql = replace(sql, ') STRICT', ') --' || char(0, 10) || ' STRICT')", "name = 'worker'"),
        ("sql = 'CREATE TABLE sqlite_sequence(name,seq,x INTEGER)'", "name = 'sqlite_sequence'"),
        ("sql = 'CREATE TABLE mine (x TEXT CHECK (json_valid(x)))'", "name = 'mine'"),
        ("sql = replace(sql, ') STRICT', ', x TEXT CHECK ((1, 2) > 3)) STRICT')", "name = 'worker'"),
        ("type = 'INDEX'", "name = 'strange'"),
    ])
    func schemaThatSQLiteReadsOtherwiseIsSetAside(set: String, condition: String) throws {
        let path = try Self.make()
        Foreign.run(path, "CREATE TABLE mine (x TEXT); CREATE UNIQUE INDEX strange ON failure (1)")
        Self.rewrite(path, set, condition)
        try Self.use(path)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    @Test(arguments: [
        "a GLOB '*a*b'", "a LIKE 'b'", "a MATCH 'b'", "a || 'b'", "1", "(a)", "a COLLATE german", "a, b > 1",
    ])
    func indexOnMoreThanColumnsIsNotLookedThrough(columns: String) {
        for unique in ["", "UNIQUE "] {
            let sql = "CREATE \(unique)INDEX i ON t (\(columns))"
            #expect(!SchemaObject(type: "index", name: "i", table: "t", sql: sql).isHarmlessToCheck)
        }
    }

    /// A later version whose tables this one can't judge is not used, and not set aside either.
    @Test func laterVersionWithOtherTablesIsRefused() throws {
        let path = try Self.make()
        Self.rewrite(path, "sql = replace(sql, 'pid INTEGER NOT NULL', 'pid INTEGER NOT NULL CHECK (pid LIKE 1)')", "1")
        Foreign.run(path, "PRAGMA user_version = 2999; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        // Where all three files are there, an opening reads no table before it writes the reserve: it must compare the
        // tables all the same.
        Files.write([], to: path + "-wal")
        Files.write([], to: path + "-shm")
        let bytes = Files.read(path)
        for access in [Access.readOnly, .existing, .readWrite] {
            let error = #expect(throws: BreakerStoreError.self) {
                let store = try CircuitStore(path: path, configuration: Stores.configuration(access))
                _ = try store.circuits()
            }
            #expect(error?.code == .newerSchema)
        }
        #expect(Files.read(path) == bytes)
        #expect(Foreign.value(path, "PRAGMA user_version") == "2999")
    }

    /// A table of somebody else's by an order that SQLite does not know can't be looked through, and is left alone.
    ///
    /// Beside an index by such an order no row could be written: the index is dropped.
    @Test(
        arguments: [
            ("CREATE TABLE mine (x TEXT COLLATE NOCASE PRIMARY KEY); INSERT INTO mine VALUES ('a')", "1"),
            ("CREATE INDEX mine ON event (kind COLLATE NOCASE, at)", "0"),
        ], ["german", "b\u{131}nary"])
    func unknownOrderHarmsNobody(of sql: (String, left: String), order: String) throws {
        let path = try Self.make()
        Foreign.run(path, sql.0)
        Self.rewrite(path, "sql = replace(sql, 'NOCASE', '\(order)')", "name = 'mine'")
        try Self.use(path)
        #expect(Foreign.value(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'mine'") == sql.left)
        #expect(Foreign.value(path, "SELECT count(*) FROM circuit WHERE name = 'a'") == "1")
    }

    /// For Swift they are the same text.
    @Test func kelvinSignIsNoK() {
        let known = SchemaObject(type: "table", name: "t", table: "t", sql: "CREATE TABLE t (x, PRIMARY KEY (x))")
        for space in ["", " "] {
            let sql = "CREATE TABLE t\(space) (x, PRIMARY \u{212a}EY (x))"
            #expect(!SchemaObject(type: "table", name: "t", table: "t", sql: sql).isAtLeast(known))
        }
    }

    /// To look through a megabyte takes long where many do so at once.
    @Test func longTextIsNotLookedThrough() throws {
        let columns = (0..<1_990).map { "column_of_somebody_else_with_number_\($0) INTEGER" }
        #expect(SQLToken.all(of: "CREATE TABLE t (\(columns.joined(separator: ", "))) STRICT") != nil)
        let path = try Self.make()
        Self.rewrite(path, "sql = sql || replace(hex(zeroblob(70000)), '0', ' ')", "name = 'worker'")
        try Self.use(path)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    /// SQLite does without the end of a comment.
    @Test func textThatCannotBeReadIsNotHarmless() {
        let table = SchemaObject(type: "table", name: "t", table: "t", sql: "CREATE TABLE t (x CHECK (x LIKE y)) /* x")
        #expect(!table.isHarmlessToCheck)
    }

    /// Somebody changes the schema while a worker has the file open.
    @Test func changeBeneathARunningStoreIsNoticed() async throws {
        let path = try Self.make()
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("a"))
        await breaker.recordFailure()
        let column = "sequence INTEGER NOT NULL"
        Self.rewrite(path, "sql = replace(sql, '\(column)', '\(column) CHECK (0)')", "1")
        Foreign.run(path, "CREATE TABLE more (x)")
        await breaker.recordFailure()
        #expect(await eventually { store.isHealthy && Foreign.value(path, "SELECT count(*) FROM circuit") == "1" })
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
        #expect(store.isHealthy)
        #expect(Directory.names(in: try Workplace.here.directory).contains { $0.contains(".corrupt-") })
    }

    static let indexes = [
        "CREATE UNIQUE INDEX strange ON failure (circuit)",
        "CREATE UNIQUE INDEX strange ON event (kind)",
        "CREATE UNIQUE INDEX \"strange \"\"x\" ON worker (1)",
        "CREATE INDEX strange ON failure (circuit, length(hex(zeroblob(400000))))",
        "CREATE INDEX strange ON failure (circuit) WHERE at > 5",
        "CREATE INDEX strange ON event (kind LIKE 'a%')", "CREATE INDEX strange ON failure (circuit GLOB worker)",
    ]

    /// An index that refuses rows would keep the circuits from tripping.
    @Test(arguments: Self.indexes, [false, true])
    func strangeIndexIsDropped(sql: String, isOpen: Bool) async throws {
        let path = try Self.make()
        if !isOpen { Foreign.run(path, sql) }
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config("b"))
        if isOpen {
            await breaker.recordFailure()
            Foreign.run(path, sql)
            await breaker.recordFailure()
            #expect(await eventually { Self.history(of: store).contains { $0.kind == .restored } })
            #expect(store.isHealthy)
        }
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
        #expect(await eventually { (try? store.circuit(named: "b")?.state) != .closed })
        #expect(Foreign.value(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'strange%'") == "0")
        #expect(
            await eventually {
                Self.history(of: store).contains { $0.kind == .configured && $0.reason?.contains("'strange") == true }
            })
        #expect(Foreign.value(path, "SELECT count(*) FROM circuit WHERE name = 'a'") == "1")
    }

    private static func history(of store: CircuitStore) -> [CircuitEvent] { (try? store.history()) ?? [] }

    /// A connection that changes the schema itself reads anew what others have made of it meanwhile.
    @Test func tablesAreLookedAtAgainAfterAChangeOfTheSchema() throws {
        let path = try Self.make()
        let connection = try Connection(path: path, access: .readWrite)
        #expect(try connection.strangeIndexes(ofVersion: Schema.version) == [])
        #expect(try connection.integer("SELECT count(*) FROM circuit") == 1)
        Foreign.run(path, "ALTER TABLE circuit ADD COLUMN more INTEGER CHECK (more LIKE name)")
        try connection.changeSchema("CREATE TABLE own (x); DROP TABLE own")
        #expect(throws: BreakerStoreError.self) { try connection.integer("SELECT count(*) FROM circuit") }
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
        let path = try Self.make()
        Foreign.run(path, "CREATE TABLE stranger (x)")
        let connection = try Connection(path: path, access: .readWrite)
        #expect(throws: BreakerStoreError.self) { try connection.prepare(sql).run() }
        #expect(throws: BreakerStoreError.self) { try connection.execute(sql) }
    }
}
