/// Databases whose schema says other things than the library wrote, some of them to be run by whoever believes it.
struct SchemaGames {
    private let stock: HostileStock

    init(_ stock: HostileStock) { self.stock = stock }

    func cases() -> [HostileCase] {
        let plain = [self.triggers, self.indexes, self.views, self.columns, self.pragmas, self.entries].flatMap { $0 }
        return self.payloads()
            + self.stock.stores.flatMap { store in
                plain.map { self.make("schema\(self.stock.suffix)", $0, store) }
            }
    }

    private typealias Outcomes = Set<HostileCase.Outcome>
    /// What is done to a whole store, and what may come of it.
    private typealias Game = (name: String, statements: [String], outcomes: Outcomes)

    /// Of some changes SQLite itself says that the schema is malformed.
    private static let notUsed: Outcomes = [.refused, .quarantine]
    private static let any: Outcomes = [.used, .refused, .quarantine, .anew]

    private func make(_ kind: String, _ game: Game, _ store: StoreBytes) -> HostileCase {
        let stock = self.stock
        var made = HostileCase(kind: kind, name: "\(game.name), \(store.name)") { place in
            try stock.put(store, place, game.statements)
        }
        made.keepsOthers = game.outcomes == [.used]
        made.outcomes = game.outcomes
        made.mustRepair = game.name.contains("last number")
        if made.mustRepair { made.outcomes = nil }
        if game.name.contains("unique index") {
            // It hinders the services.
            made.judge = { _, runs in
                runs.contains { $0.words == ["doctor"] && !$0.said.contains("drop index game") }
                    ? ["doctor does not say what to do"] : []
            }
        }
        return made
    }

    // MARK: - What would run

    private static let endless =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

    /// What a statement would do; the place says where it would be seen.
    private static let payloads: [@Sendable (HostilePlace) -> String] = [
        { "VACUUM INTO '\($0.canary)'" },
        { "VACUUM main INTO '\($0.canary)'" },
        { "ATTACH '\($0.canary)' AS c; CREATE TABLE c.pwned (x)" },
        { "ATTACH '\($0.attached)' AS c; CREATE TABLE c.pwned (x)" },
        { "ATTACH '\($0.attached)' AS c; DELETE FROM c.own" },
        { _ in Self.endless },
        { _ in "CREATE TABLE pwned AS \(Self.endless)" },
        { _ in "CREATE TEMP TABLE pwned AS SELECT zeroblob(500000000) AS x" },
        { _ in "PRAGMA journal_mode = DELETE; DROP TABLE circuit" },
        { _ in "SELECT load_extension('/nonexistent/pwned')" },
        { _ in "SELECT length(printf('%.500000000c', 'x'))" },
    ]

    /// How a text comes to say that; `sql` is what it says, `$` the payload.
    private static let forms = [
        "sql || '; ' || '$'", "sql || ';' || char(10) || '$;' || char(10)", "sql || ' /* */ ; -- ' || char(10) || '$'",
        "replace(sql, ') STRICT', ', extra INTEGER) STRICT') || '; ' || '$'", "'$; ' || sql", "'$'",
        "sql || char(0) || '; ' || '$'",
    ]

    private func payloads() -> [HostileCase] {
        let names = self.stock.tables.map(\.name) + self.stock.indexes
        var cases: [HostileCase] = []
        for (turn, name) in names.enumerated() {
            for (number, payload) in Self.payloads.enumerated() {
                for form in Self.forms {
                    let store = self.stock.stores[(turn + number) % self.stock.stores.count]
                    let stock = self.stock
                    let kind = "payloads\(self.stock.suffix)"
                    let words = "\(form) with payload \(number) as \(name), \(store.name)"
                    var made = HostileCase(kind: kind, name: words) { place in
                        try place.makeAttached()
                        let text = payload(place).replacing("'", with: "''")
                        let value = form.replacing("$", with: text)
                        try stock.put(
                            store, place, ["UPDATE sqlite_schema SET sql = \(value) WHERE name = '\(name)'"])
                    }
                    made.outcomes = Self.notUsed
                    cases.append(made)
                }
            }
        }
        return cases
    }

    // MARK: - What is there beside the tables

    private var triggers: [Game] {
        let bodies = [
            "SELECT RAISE(ABORT, 'no')", "SELECT RAISE(IGNORE)", "DELETE FROM circuit", "UPDATE clock SET offset = 0",
            Self.endless,
        ]
        return self.stock.tables.flatMap { table in
            ["BEFORE INSERT", "AFTER UPDATE", "BEFORE DELETE"].flatMap { when in
                bodies.map { body in
                    (
                        "\(when) ON \(table.name): \(body)",
                        ["CREATE TRIGGER game \(when) ON \(table.name) BEGIN \(body); END"], [.used]
                    )
                }
            }
        }
    }

    private var indexes: [Game] {
        self.stock.tables.flatMap { table in
            table.columns.flatMap { column -> [Game] in
                let (on, name) = ("ON \(table.name) (\(column.name))", "\(table.name).\(column.name)")
                return [
                    ("an index on \(name)", ["CREATE INDEX game \(on)"], [.refused]),
                    // One row is left where two would not fit.
                    (
                        "a unique index on \(name)",
                        [
                            "DELETE FROM \(table.name) WHERE (\(column.name)) IN (SELECT \(column.name) FROM "
                                + "\(table.name) GROUP BY 1 HAVING count(*) > 1) AND '\(table.name)' <> 'circuit'",
                            "CREATE UNIQUE INDEX game \(on)",
                        ], [.refused]
                    ),
                    (
                        "an index on an expression of \(name)",
                        ["CREATE INDEX game ON \(table.name) (abs(\(column.name)), zeroblob(100000))"], Self.notUsed
                    ),
                ]
            }
        }
    }

    private var views: [Game] {
        let added: [Game] = [
            ("a view", ["CREATE VIEW game AS \(Self.endless)"], [.used]),
            ("a table", ["CREATE TABLE game (x)", "INSERT INTO game VALUES (1)"], [.used]),
            ("a table with the reserve's name", ["CREATE TABLE reserve (x)"], [.used]),
            ("a view with the reserve's name", ["CREATE VIEW reserve AS \(Self.endless)"], [.used]),
            ("an index with the reserve's name", ["CREATE INDEX reserve ON event (at)"], [.refused]),
            ("a virtual table", ["CREATE VIRTUAL TABLE game USING fts5 (x)"], [.used]),
            (
                "statistics that lie",
                ["ANALYZE", "UPDATE sqlite_stat1 SET stat = '9223372036854775807 -1 x unordered sz=0'"], [.used]
            ),
        ]
        return added
            + self.stock.tables.flatMap { table -> [Game] in
                [
                    ("\(table.name) is gone", ["DROP TABLE \(table.name)"], [.refused]),
                    (
                        "\(table.name) is a view",
                        [
                            "ALTER TABLE \(table.name) RENAME TO game",
                            "CREATE VIEW \(table.name) AS SELECT * FROM game",
                        ],
                        [.refused]
                    ),
                    ("\(table.name) is empty", ["DELETE FROM \(table.name)"], Self.any),
                    ("\(table.name) has another name", ["ALTER TABLE \(table.name) RENAME TO game"], [.refused]),
                ]
            }
            + self.stock.indexes.flatMap { index -> [Game] in
                [
                    ("\(index) is gone", ["DROP INDEX \(index)"], [.refused]),
                    (
                        "\(index) is on another table",
                        ["DROP INDEX \(index)", "CREATE INDEX \(index) ON worker (pid)"], [.refused]
                    ),
                ]
            }
    }

    private var columns: [Game] {
        let added = [
            "extra INTEGER CHECK (0)", "like TEXT CHECK ('a' like 'b')", "incarnation TEXT", "wall INTEGER",
            "extra BLOB DEFAULT (zeroblob(500000000))", "extra INTEGER CHECK (length(zeroblob(500000000)) > 0)",
            "extra INTEGER AS (length(zeroblob(500000000)))", "extra INTEGER AS (1) STORED",
            "extra TEXT COLLATE nowhere",
            "extra INTEGER REFERENCES nowhere (x)", "extra INTEGER NOT NULL", "rowid INTEGER", "extra INTEGER UNIQUE",
            "extra INTEGER AS (nowhere(1))",
        ]
        let plain = [
            "extra TEXT", "extra INTEGER NOT NULL DEFAULT 7", "extra ANY CHECK (extra IS NULL)", "\"a b\" BLOB",
        ]
        return self.stock.tables.flatMap { table -> [Game] in
            (plain + added).flatMap { column -> [Game] in
                [
                    (
                        "\(table.name) has '\(column)'", ["ALTER TABLE \(table.name) ADD COLUMN \(column)"],
                        plain.contains(column) ? [.refused] : Self.notUsed
                    ),
                    (
                        "the text of \(table.name) has '\(column)'",
                        [
                            "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ', \(column)) STRICT') "
                                + "WHERE name = '\(table.name)'"
                        ], Self.notUsed
                    ),
                ]
            }
                + table.columns.flatMap { column -> [Game] in
                    [
                        (
                            "\(table.name).\(column.name) has another name",
                            ["ALTER TABLE \(table.name) RENAME COLUMN \(column.name) TO game"], Self.notUsed
                        ),
                        (
                            "\(table.name).\(column.name) is gone",
                            ["ALTER TABLE \(table.name) DROP COLUMN \(column.name)"], Self.notUsed
                        ),
                    ]
                }
        }
    }

    // MARK: - Headers

    private var pragmas: [Game] {
        let versions = [0, 1, 999, 1_001, 1_999, 2_001, 2_999, 3_001, 3_999, 4_000, 2_147_483_647, -1, -2_147_483_648]
        // A later minor version has all tables of this one.
        let usable = self.stock.suffix.isEmpty ? 3_001...3_999 : 2_000...2_000
        return versions.map { number -> Game in
            ("version \(number)", ["PRAGMA user_version = \(number)"], usable.contains(number) ? [.used] : [.refused])
        }
            // The database's own header counts, not one that only the log has.
            + versions.map { ("application \($0)", ["PRAGMA application_id = \($0)"], [.used, .refused]) }
            + ["DELETE", "PERSIST"].map { ("journal mode \($0)", ["PRAGMA journal_mode = \($0)"], Self.any) }
            + (9...16).map {
                (
                    "pages of \(1 << $0)", ["PRAGMA journal_mode = DELETE", "PRAGMA page_size = \(1 << $0)", "VACUUM"],
                    Self.any
                )
            }
            + [1, 2].map { ("auto-vacuum \($0)", ["PRAGMA auto_vacuum = \($0)", "VACUUM"], Self.any) }
            + [0, 1, 2_147_483_647, -1].map { ("schema number \($0)", ["PRAGMA schema_version = \($0)"], Self.any) }
    }

    /// The rows of SQLite's own tables.
    private var entries: [Game] {
        let roots = ["0", "1", "-1", "2", "3", "99999", "9223372036854775807", "NULL", "'x'"]
        let names = self.stock.tables.map(\.name) + self.stock.indexes
        let numbers = ["9223372036854775807", "9223372036854775806", "-1", "NULL", "'x'", "0", "-9223372036854775807"]
        return names.flatMap { name -> [Game] in
            roots.map { ("\(name) begins at page \($0)", Self.entry(name, "rootpage = \($0)"), Self.any) }
                + [
                    ("\(name) has no text", Self.entry(name, "sql = NULL"), Self.notUsed),
                    ("\(name) has a blob for its text", Self.entry(name, "sql = CAST(sql AS BLOB)"), Self.any),
                    ("\(name) is of no kind", Self.entry(name, "type = 'game'"), Self.notUsed),
                    ("\(name) is of another table", Self.entry(name, "tbl_name = 'game'"), Self.notUsed),
                    ("\(name) is not strict", Self.entry(name, "sql = replace(sql, ' STRICT', '')"), Self.any),
                    (
                        "\(name) has 1 MB of spaces",
                        Self.entry(name, "sql = sql || replace(hex(zeroblob(500000)), '0', ' ')"), Self.notUsed
                    ),
                    (
                        "\(name) has deep parentheses",
                        Self.entry(
                            name,
                            "sql = replace(sql, ') STRICT', ', extra AS (' || replace(hex(zeroblob(5000)), '0', '(') "
                                + "|| '1' || replace(hex(zeroblob(5000)), '0', ')') || ')) STRICT')"), Self.any
                    ),
                ]
        }
            + ["circuit", "event"].flatMap { table in
                numbers.map { number in
                    (
                        "the last number of \(table) is \(number)",
                        ["UPDATE sqlite_sequence SET seq = \(number) WHERE name = '\(table)'"], [.used]
                    )
                }
            }
            + [("no last numbers", ["DELETE FROM sqlite_sequence"], [.used])]
    }

    private static func entry(_ name: String, _ change: String) -> [String] {
        ["UPDATE sqlite_schema SET \(change) WHERE name = '\(name)'"]
    }
}
