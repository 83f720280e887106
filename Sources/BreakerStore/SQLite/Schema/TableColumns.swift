/// The columns of a table, parsed from the SQL that creates it, in which each line has a column or the key.
struct TableColumns: Sendable {
    let table: String
    /// The columns; `type` is the schema's word, such as "INTEGER".
    private(set) var columns: [(name: String, type: String, isNullable: Bool)] = []
    /// The columns of the indexes, and of the primary key of a table without rowids.
    private(set) var keys: [String] = []
    /// The column by which rows are found: the first one of the primary key.
    private(set) var first = "rowid"

    static let current = Self.all(in: Schema.rows)

    /// The library's tables among these rows.
    static func all(in rows: [SchemaRow]) -> [TableColumns] {
        rows.filter { $0.isOf(type: "table") }.map { row in
            TableColumns(row, indexes: rows.filter { $0.isOf(type: "index") && $0.table == row.name })
        }.filter { !$0.columns.isEmpty }
    }

    private init(_ row: SchemaRow, indexes: [SchemaRow]) {
        self.table = row.shownName
        func words(_ text: Substring) -> [String] { text.split { " ,()".contains($0) }.map(String.init) }
        for line in String(decoding: row.sql, as: UTF8.self).split(separator: "\n") where line.hasPrefix("    ") {
            let words = words(line)
            if words.first == "PRIMARY" {
                self.keys += words.dropFirst(2)
                self.first = words.dropFirst(2).first ?? self.first
            } else if words.count > 1, words[0] != "--" {
                self.columns.append((words[0], words[1], !words.dropFirst(2).starts(with: ["NOT", "NULL"])))
                if words.contains("UNIQUE") { self.keys.append(words[0]) }
            }
        }
        // CREATE INDEX name ON table (column, column)
        for index in indexes { self.keys += words(String(decoding: index.sql, as: UTF8.self)[...]).dropFirst(5) }
    }

    var texts: [String] { self.columns.filter { $0.type == "TEXT" }.map(\.name) }

    /// A condition for rows with a value of a type that its column does not take.
    var hasWrongType: String {
        Self.list(self.columns, " OR ") { name, type, isNullable in
            "typeof(\(name)) NOT IN ('\(type.lowercased())'\(isNullable ? ", 'null'" : ""))"
        }
    }

    // Not `joined`: for its first use, the runtime searches all loaded libraries for conformances.
    static func list<Item>(_ items: [Item], _ separator: String, _ text: (Item) -> String) -> String {
        items.reduce(into: "") { list, item in list += (list.isEmpty ? "" : separator) + text(item) }
    }
}
