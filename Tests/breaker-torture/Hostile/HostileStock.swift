import BreakerStoreMigrations
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The stores that cases are made of, and what is known of their tables.
struct HostileStock: Sendable {
    struct Table: Sendable {
        struct Column: Sendable {
            let name: String
            let type: String
            /// Its place in the primary key, from 1; zero if it is not in it.
            let key: Int
        }

        let name: String
        let columns: [Column]
        let sql: String
    }

    /// One whose log holds all of it, and one whose log has been copied.
    let stores: [StoreBytes]
    /// Of another service.
    let other: StoreBytes
    let tables: [Table]
    let indexes: [String]
    /// A process that has a lock file open, or a large file, needs a place of its own.
    let directory: String
    /// What is said of the kinds of its cases.
    let suffix: String

    init(in directory: String) throws {
        func make(_ name: String, isCopied: Bool) throws -> StoreBytes {
            let place = "\(directory)/stock-\(name)"
            guard unsafe mkdir(place, 0o755) == 0 else { throw SystemError("make \(place)") }
            return try HostileStore.bytes(name, in: place, isCopied: isCopied)
        }
        self.directory = directory
        self.suffix = ""
        self.stores = [try make("log", isCopied: false), try make("copied", isCopied: true)]
        self.other = try make("other", isCopied: true)
        (self.tables, self.indexes) = Self.schema(of: "\(directory)/stock-copied/a.db")
    }

    /// The same circuits as a program of schema 2.0 leaves them: a service of today migrates the file.
    private init(asOfSchema2 stock: HostileStock) throws {
        let place = "\(stock.directory)/stock-2.0"
        let path = place + "/a.db"
        guard unsafe mkdir(place, 0o755) == 0 else { throw SystemError("make \(place)") }
        try FileBytes.write([], to: path)
        let step = Migration.all[0]
        try SQLiteFile.force(path, step.parts)
        let (tables, indexes) = Self.schema(of: path)
        let rows = (tables.map(\.name) + ["sqlite_sequence"]).map { name in
            let columns = tables.first { $0.name == name }?.columns.map(\.name) ?? ["name", "seq"]
            let list = columns.joined(separator: ", ")
            let values = columns.map { Self.newerNames[$0] ?? $0 }.joined(separator: ", ")
            let newer = Self.newerTables[name] ?? name
            return "DELETE FROM \(name); INSERT INTO \(name) (\(list)) SELECT \(values) FROM newer.\(newer)"
        }
        let newer = "ATTACH '\(stock.directory)/stock-copied/a.db' AS newer"
        let id = "PRAGMA application_id = \(0x4272_6B53); PRAGMA user_version = \(step.version)"
        try SQLiteFile.force(path, [newer] + rows + ["DETACH newer", id, "PRAGMA journal_mode = WAL"])
        self.tables = tables
        self.indexes = indexes
        self.directory = stock.directory
        self.suffix = " in 2.0"
        self.other = stock.other
        self.stores = [StoreBytes("2.0", in: place, lock: stock.other.lock)]
    }

    /// What has another name today.
    private static let newerTables = ["tally": "counters", "word": "command"]
    private static let newerNames = [
        "birth": "incarnation", "label": "group_name", "stretch": "window_generation", "said_at": "lamport_time",
        "stretch_failed": "generation_failed", "stretch_refused": "generation_refused", "failures": "failure_count",
        "rule": """
        CASE rules ->> '$.trip.rule' WHEN 'consecutiveFailures' THEN 'consecutive' WHEN 'failureRate' THEN 'rate'
        ELSE 'failures' END
        """, "rule_count": "coalesce(rules ->> '$.trip.count', rules ->> '$.trip.minimumCalls')",
        "rule_window": "coalesce(rules ->> '$.trip.windowMicroseconds', 0)", "rule_share": "rules ->> '$.trip.share'",
        "slow_threshold": "rules ->> '$.slow.thresholdMicroseconds'", "slow_share": "rules ->> '$.slow.share'",
        "slow_count": "rules ->> '$.slow.minimumCalls'", "slow_window": "rules ->> '$.slow.windowMicroseconds'",
        "recovery": "rules ->> '$.recovery.timeoutMicroseconds'",
        "recovery_multiplier": "rules ->> '$.recovery.multiplier'",
        "recovery_cap": "rules ->> '$.recovery.capMicroseconds'", "recovery_jitter": "rules ->> '$.recovery.jitter'",
        "outage_cap": "3600000000", "probe_limit": "rules ->> '$.probes.limit'",
        "probe_successes": "rules ->> '$.probes.successesToClose'",
        "probe_lease": "rules ->> '$.probes.leaseMicroseconds'", "minimum_reporters": "rules ->> '$.minimumReporters'",
    ]

    func asOfSchema2() throws -> HostileStock { try HostileStock(asOfSchema2: self) }

    private static func schema(of path: String) -> ([Table], indexes: [String]) {
        let file = SQLiteFile(path)
        let names = file.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'") ?? []
        let tables = names.sorted().map { name in
            let rows = file.rows("SELECT name, type, pk FROM pragma_table_info('\(name)')") ?? []
            let columns = rows.map { row in
                let words = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                return Table.Column(name: words[0], type: words[1], key: Int(words[2]) ?? 0)
            }
            let sql = file.rows("SELECT sql FROM sqlite_schema WHERE name = '\(name)'")?.first ?? ""
            return Table(name: name, columns: columns, sql: sql)
        }
        let indexes = file.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL") ?? []
        return (tables, indexes)
    }

    /// Puts a whole store into its place.
    func put(_ store: StoreBytes, _ place: HostilePlace) throws { _ = try store.write(to: place.store, nil) }

    /// Puts a store whose database was changed by statements, without any check.
    func put(_ store: StoreBytes, _ place: HostilePlace, _ statements: [String]) throws {
        try self.put(store, place)
        try SQLiteFile.force(place.path, statements)
    }
}

extension HostileStock.Table {
    /// Statements around others that find a table without types, checks and keys, and leave it as it was.
    func loosened(_ statements: [String]) -> [String] {
        [
            "UPDATE sqlite_schema SET sql = '\(self.looseText)' WHERE name = '\(self.name)'",
            // https://sqlite.org/pragma.html#pragma_writable_schema: reads the schema again.
            "PRAGMA writable_schema = RESET",
        ] + statements + [
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_schema SET sql = '\(self.sql.replacing("'", with: "''"))' WHERE name = '\(self.name)'",
        ]
    }

    /// Whether the row's own number is the key.
    var hasRowID: Bool { self.columns.first { $0.key == 1 }?.name == "id" }

    /// The columns lie in the row as the real text says; a table without row numbers needs some key.
    private var looseText: String {
        let columns = self.columns.map { column in
            if column.key == 1 { return self.hasRowID ? "id INTEGER PRIMARY KEY" : "\(column.name) PRIMARY KEY" }
            // SQLite's own index of the unique column must stay.
            return self.name == "circuit" && column.name == "name" ? "name UNIQUE" : column.name
        }
        return "CREATE TABLE \(self.name) (\(columns.joined(separator: ", ")))\(self.hasRowID ? "" : " WITHOUT ROWID")"
    }
}
