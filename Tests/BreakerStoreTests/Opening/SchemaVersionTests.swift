import FoundationEssentials
import Testing

@testable import BreakerStore
@testable import BreakerStoreMigrations

@Suite(.timeLimit(.minutes(10))) struct SchemaVersionTests {
    @Test func laterMinorVersionWorks() throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Strangers.makeStore(
                path, version: 3_001, ["-wal", "-shm"],
                "CREATE TABLE later (x INTEGER PRIMARY KEY, y TEXT UNIQUE) STRICT; CREATE INDEX mine ON later (y, x)"
            )
            for _ in 0..<2 {
                let store = try CircuitStore(path: path, configuration: Stores.configuration())
                let breaker = try store.breaker(Stores.config("b"))
                breaker.recordFailure()
                breaker.recordFailure()
                #expect(throws: CircuitOpenError.self) { try { try breaker.run { 1 } }() }
                #expect(try store.circuits().map(\.name) == ["a", "b"])
                store.close()
            }
            #expect(Foreign.value(path, "PRAGMA user_version") == "3001")
        }
    }

    /// The texts of released steps, comments too, are in every file and are compared with it: add another step instead.
    @Test(arguments: [
        (version: Int32(2_000), fingerprint: UInt64(0x1d84_a3c2_6db7_df1a)), (2_001, 0xb8fb_232f_af51_2400),
    ])
    func releasedStepNeverChanges(step: (version: Int32, fingerprint: UInt64)) throws {
        let sql = try #require(Migration.all.first { $0.version == step.version }).parts.joined()
        // FNV-1a
        let fingerprint = sql.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        #expect(fingerprint == step.fingerprint)
    }

    /// `schemaMade` is what `schema` and the later steps make.
    ///
    /// BREAKERSTORE_WRITE_SCHEMA=<path> writes its file again.
    @Test func fileSaysToTheByteWhatTheStepsMake() throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Stores.make(path)
            let connection = try Connection(path: path, access: .readWrite)
            let rows = try connection.prepare(SchemaRow.all).all { SchemaRow($0) }
            let found = rows.filter { !$0.isOwnIndexOfSQLite }.flatMap(\.written)
            if let path = ProcessInfo.processInfo.environment["BREAKERSTORE_WRITE_SCHEMA"] {
                let directive = "// swift-format-ignore-file\n"
                let source = "written by SchemaVersionTests with BREAKERSTORE_WRITE_SCHEMA"
                let head = directive + "// Rows of sqlite_schema as netstrings; \(source).\n"
                let text = "\(head)\nlet schemaMade = \"\"\"\n\(String(decoding: found, as: UTF8.self))\n\"\"\"\n"
                Files.write(Array(text.utf8), to: path)
            }
            #expect(found == Migration.expectedRows, "\(String(decoding: found, as: UTF8.self))")
            #expect(Schema.rows.flatMap(\.written) == Migration.expectedRows)
        }
    }

    static let laterMajor: [BadPathTests.Case] =
        [
            ["-wal", "-shm"], ["-wal"], ["-shm"], [],
        ].map { endings in
            BadPathTests.Case("4000 in the log, with \(endings)", .newerSchema, "4.0") {
                try Strangers.makeStore("\($0)/a.db", version: 4_000, endings, "PRAGMA wal_checkpoint(PASSIVE)")
                return "\($0)/a.db"
            }
        }
        + [["-wal", "-shm"], ["-wal"]].map { endings in
            BadPathTests.Case("4000 in the log alone, with \(endings)", .newerSchema, "4.0") {
                try Strangers.makeStore("\($0)/a.db", version: 4_000, endings)
                return "\($0)/a.db"
            }
        }
        + [
            BadPathTests.Case("largest version", .newerSchema, "2147483.647") {
                try Strangers.makeStore("\($0)/a.db", version: Int(Int32.max), ["-wal", "-shm"])
                return "\($0)/a.db"
            }
        ]

    @Test(arguments: Self.laterMajor)
    func laterMajorVersionIsRefused(newer: BadPathTests.Case) throws {
        try Files.withDirectory { try newer.check($0) }
    }

    private static func step(_ version: Int32, _ sql: String) -> Migration {
        Migration(version: version, parts: [sql])
    }

    /// A step that fails takes those before it back.
    @Test func failedStepLeavesTheOldVersion() throws {
        let second = Self.step(2_001, "CREATE TABLE second (x INTEGER) STRICT")
        let broken = Self.step(2_002, "ALTER TABLE missing ADD COLUMN y")
        try Files.withDirectory { directory in
            let file = try StoreFile(resolving: "\(directory)/a.db")
            Files.write([], to: file.path)
            let connection = try Connection(path: file.path, access: .readWrite)
            _ = try Schema.migrate(connection, file, steps: [Migration.all[0]])
            #expect(throws: BreakerStoreError.self) {
                _ = try Schema.migrate(connection, file, steps: [Migration.all[0], second, broken])
            }
            #expect(try connection.integer("PRAGMA user_version") == 2_000)
            #expect(try connection.verifySchema() == false)
        }
    }

    /// Between a look at an empty file and its lock another program may come first.
    @Test func strangerComesFirst() throws {
        try Files.withDirectory { directory in
            let file = try StoreFile(resolving: "\(directory)/a.db")
            Foreign.run(file.path, Strangers.rollback)
            let before = Listing(directory)["a.db"]
            let error = #expect(throws: BreakerStoreError.self) {
                let connection = try Connection(path: file.path, access: .readWrite)
                _ = try Schema.migrate(connection, file)
            }
            #expect(error?.code == .notAStore)
            #expect(Listing(directory)["a.db"] == before)
        }
    }
}

extension SchemaRow {
    /// The row in the form that `all(in:)` reads.
    var written: [UInt8] {
        [self.type, self.name, self.table, self.sql].flatMap { Array("\($0.count):".utf8) + $0 + [UInt8(ascii: ",")] }
            + [UInt8(ascii: "\n")]
    }
}
