/// What SQLite by itself finds in a store's file.
struct PowerLook {
    /// All rows of all tables, and the schema, as one text; nil if they can't be read.
    let dump: String?
    /// What `PRAGMA integrity_check` says, unless that is "ok".
    let problems: [String]
    /// Number, kind and process of each.
    let events: [String]
    let failures: [String]

    /// - Parameter isChecked: whether the file is looked through.
    init(_ path: String, isChecked: Bool = true) {
        guard FileBytes.read(path, atMost: 1)?.isEmpty == false else {
            // No file, or nothing in it: SQLite would make one.
            (self.dump, self.problems, self.events, self.failures) = ("", [], [], [])
            return
        }
        let file = SQLiteFile(path)
        let said = isChecked ? file.rows("PRAGMA integrity_check") ?? ["it can't be checked"] : []
        self.problems = said.filter { $0 != "ok" }
        var parts: [String] = []
        for sql in Self.schema { parts += file.rows(sql) ?? ["unreadable"] }
        let tables = file.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        for table in tables ?? [] {
            // What a creation fills the file with, and takes away again.
            let isFiller = table == "reserve"
            parts += file.rows(isFiller ? "SELECT count(*) FROM reserve" : Self.rows(of: table, file)) ?? ["unreadable"]
        }
        let isReadable = tables != nil && !parts.contains("unreadable")
        // A database without a table is as good as none.
        self.dump = isReadable ? tables?.isEmpty == true ? "" : parts.joined(separator: "\n") : nil
        let hasRows = tables?.contains("event") == true
        self.events = hasRows ? file.rows(Self.events) ?? [] : []
        self.failures = hasRows ? file.rows(Self.failures) ?? [] : []
    }

    private static let schema = [
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
        "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2",
    ]

    private static let events = "SELECT id, kind, pid, circuit, at FROM event ORDER BY id"
    private static let failures = """
        SELECT worker || '.' || sequence, 'failure', pid FROM failure JOIN worker ON worker.id = failure.worker
        """

    /// Made one text by SQLite, which is much quicker.
    private static func rows(of table: String, _ file: SQLiteFile) -> String {
        let names = file.rows("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid") ?? []
        let columns = names.map { "quote(\"\($0)\")" }
        return """
            SELECT '\(table)', count(*), group_concat(line, char(10)) FROM
            (SELECT \(columns.joined(separator: " || ',' || ")) AS line FROM "\(table)" ORDER BY 1)
            """
    }
}
