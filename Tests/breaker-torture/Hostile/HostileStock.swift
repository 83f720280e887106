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

    init(in directory: String) throws {
        func make(_ name: String, isCopied: Bool) throws -> StoreBytes {
            let place = "\(directory)/stock-\(name)"
            guard unsafe mkdir(place, 0o755) == 0 else { throw SystemError("make \(place)") }
            return try HostileStore.bytes(name, in: place, isCopied: isCopied)
        }
        self.directory = directory
        self.stores = [try make("log", isCopied: false), try make("copied", isCopied: true)]
        self.other = try make("other", isCopied: true)
        let file = SQLiteFile("\(directory)/stock-copied/a.db")
        let names = file.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'") ?? []
        self.tables = names.sorted().map { name in
            let rows = file.rows("SELECT name, type, pk FROM pragma_table_info('\(name)')") ?? []
            let columns = rows.map { row in
                let words = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                return Table.Column(name: words[0], type: words[1], key: Int(words[2]) ?? 0)
            }
            let sql = file.rows("SELECT sql FROM sqlite_schema WHERE name = '\(name)'")?.first ?? ""
            return Table(name: name, columns: columns, sql: sql)
        }
        self.indexes = file.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL") ?? []
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
