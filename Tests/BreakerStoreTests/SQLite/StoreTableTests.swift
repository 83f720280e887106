import BreakerTestSupport
import Testing

@testable import BreakerStore

/// The one list of tables: it is the schema's, and all that concerns each table takes its tables from the list.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct StoreTableTests {
    private static func names(_ tables: some Sequence<StoreTable>) -> [String] { tables.map { "\($0.name)" } }

    /// A table, or an owner of rows, that a step adds to the schema is added to the list, too.
    @Test func listIsTheSchema() throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        let file = Foreign(path)
        let found = file.value("SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table'")
        let names = Self.names(StoreTable.all)
        #expect(found?.split(separator: ",").map(String.init).sorted() == names.sorted())
        for table in StoreTable.all {
            func columns(_ condition: String) -> String? {
                file.value("SELECT group_concat(name) FROM pragma_table_xinfo('\(table.name)') WHERE \(condition)")
            }
            // The circuit of an event is a name: the history of a circuit outlives it.
            let circuit = columns("name = 'circuit' AND type = 'INTEGER'")
            #expect(table.circuit.map { "\($0)" } == (names[0] == "\(table.name)" ? "id" : circuit))
            if let worker = table.worker { #expect(columns("name = '\(worker)' AND type = 'INTEGER'") == "\(worker)") }
        }
    }

    @Test func columnsAreTheSchemas() throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        let file = Foreign(path)
        #expect(TableColumns.current.map(\.table).sorted() == Self.names(StoreTable.all.dropLast()).sorted())
        for table in TableColumns.current {
            let name = table.table
            let columns = file.value(
                """
                SELECT group_concat(name || ' ' || type || ' ' || ("notnull" = 0)) FROM
                (SELECT * FROM pragma_table_xinfo('\(name)') ORDER BY cid)
                """)
            let listed = table.columns.map { "\($0.name) \($0.type) \($0.isNullable ? 1 : 0)" }
            #expect(columns == listed.joined(separator: ","))
            let keys = file.value(
                """
                SELECT group_concat(DISTINCT columns.name) FROM pragma_index_list('\(name)') AS indexes,
                pragma_index_info(indexes.name) AS columns
                """)
            #expect(Set(keys?.split(separator: ",").map(String.init) ?? []) == Set(table.keys), "\(name)")
            let hasRowNumbers = file.value("SELECT wr FROM pragma_table_list WHERE name = '\(name)'") == "0"
            let first = file.value("SELECT name FROM pragma_table_xinfo('\(name)') WHERE pk = 1")
            #expect(table.first == (hasRowNumbers ? "rowid" : first))
        }
    }

    // MARK: - A table that is added to the list

    private static let list = StoreTable.all + [StoreTable(name: "extra", circuit: "circuit", worker: "worker")]
    private static let text = """
        CREATE TABLE extra (
            circuit INTEGER NOT NULL,
            -- A comment.
            kind TEXT NOT NULL,
            share REAL,
            note TEXT UNIQUE,
            worker INTEGER,
            PRIMARY KEY (circuit, kind)
        ) STRICT, WITHOUT ROWID
        """
    private static let long = "replace(hex(zeroblob(1500000)), '0', 'x')"
    private static let huge = "hex(zeroblob(20000000))"

    /// A store with such a table, after `sql`.
    private static func make(_ sql: String) throws -> (database: Database, tables: [TableColumns]) {
        let path = try Workplace.here.store
        try Stores.make(path)
        Foreign.run(path, "\(Self.text); \(sql)")
        let database = Database(try Connection(path: path, access: .readWrite, tables: Self.list))
        let rows = try database.connection.prepare(SchemaRow.all).all { SchemaRow($0) }
        return (database, TableColumns.all(in: rows))
    }

    private static func rows(_ database: Database) throws -> String {
        try database.connection.text("SELECT coalesce(max(kind), '') || count(*) FROM extra")
    }

    @Test func statementsMayTouchIt() throws {
        let (database, _) = try Self.make("INSERT INTO extra VALUES (1, 'a', 0.5, NULL, 7)")
        #expect(try Self.rows(database) == "a1")
        let other = try Connection(path: database.connection.path, access: .readWrite)
        let error = #expect(throws: BreakerStoreError.self) { try other.integer("SELECT count(*) FROM extra") }
        #expect(error?.code == .permissionDenied)
    }

    @Test func itsRowsAreDeletedWithTheirCircuit() throws {
        let (database, _) = try Self.make("INSERT INTO extra VALUES (1, 'a', 0.5, NULL, 7), (2, 'b', 0.5, NULL, 7)")
        let deletions = StoreTable.deletions(\.circuit, "=", in: Self.list)
        try database.deleteCircuit(1, by: deletions)
        #expect(try Self.rows(database) == "b1")
    }

    @Test func itsRowsOfCircuitsWithNumbersAtTheirEndAreDeleted() throws {
        let (database, _) = try Self.make(
            "INSERT INTO extra VALUES (9223372036854775807, 'a', 0.5, NULL, 7), (2, 'b', 0.5, NULL, 7)")
        let deletions = StoreTable.deletions(\.circuit, ">", in: Self.list)
        try database.repairRowIDs(by: deletions)
        #expect(try Self.rows(database) == "b1")
    }

    @Test func itsRowsAreDeletedWithTheirWorker() throws {
        let (database, _) = try Self.make("INSERT INTO extra VALUES (1, 'a', 0.5, NULL, 7), (2, 'b', 0.5, NULL, 8)")
        let deletions = StoreTable.deletions(\.worker, "=", in: Self.list)
        try database.removeWorker(7, at: StoreTime(microseconds: 1), by: deletions)
        #expect(try Self.rows(database) == "b1")
    }

    /// Each column takes its type, and NULL where the table says so.
    @Test(arguments: [
        "('x', 'a', 0.5, NULL, 7)", "(1, x'35', 0.5, NULL, 7)", "(1, 'a', 'x', NULL, 7)", "(1, 'a', 0.5, x'61', 7)",
        "(1, 'a', 0.5, NULL, 'x')", "(1, 'a', 0.5, \(Self.long), 7)", "(99, \(Self.long), 0.5, NULL, 7)",
    ])
    func badRowsOfItAreRepaired(row: String) throws {
        let texts = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql,"
        let (database, tables) = try Self.make("\(texts) 'STRICT, ', '') WHERE name = 'extra'")
        let path = database.connection.path
        Foreign.run(
            path,
            """
            INSERT INTO extra VALUES \(row), (5, 'b', NULL, NULL, NULL), (6, 'b', 0.5, 'c', 7);
            \(texts) 'WITHOUT', 'STRICT, WITHOUT') WHERE name = 'extra'
            """)
        try database.transaction(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
            let start = try ClockRow.start(database, StoreClock(ManualHostClock()))
            var healing = Repair(database, at: start, in: tables)
            try healing.run()
            #expect(healing.notes.map(\.transition.reason) == ["1 row that could not be read was removed"])
        }
        #expect(try Self.rows(database) == "b2")
    }

    @Test func itsLongTextsAreFound() throws {
        let (database, tables) = try Self.make("INSERT INTO extra VALUES (1, 'a', 0.5, \(Self.long), 7)")
        try database.requireShortTexts()
        let error = #expect(throws: BreakerStoreError.self) { try database.requireShortTexts(of: tables) }
        #expect(error?.isOfRefusedValue == true)
    }

    @Test(arguments: ["(1, \(Self.huge), 0.5, NULL, 7)", "(1, 'a', 0.5, \(Self.huge), 7)"])
    func itsLongKeysAreFound(row: String) throws {
        let (database, tables) = try Self.make("INSERT INTO extra VALUES \(row)")
        try database.requireShortKeys()
        let error = #expect(throws: BreakerStoreError.self) { try database.requireShortKeys(of: tables) }
        #expect(error?.code == .corrupt && error?.message.contains("a key is longer") == true)
    }
}
