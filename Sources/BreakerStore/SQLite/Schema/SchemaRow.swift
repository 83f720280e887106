/// A row of `sqlite_schema`, as raw bytes; nothing of its text is ever run.
struct SchemaRow: Equatable {
    let type: [UInt8]
    let name: [UInt8]
    let table: [UInt8]
    /// The row's SQL; empty if it has none, or if the SQL was not read.
    let sql: [UInt8]

    static let all = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    private static let columnCount = 4

    /// Reads a row, and its SQL only if needed, since that of other programs may be long.
    ///
    /// - Parameter readsText: decides by type, name and table whether the SQL is needed.
    init(_ row: Row, readsText: (SchemaRow) -> Bool = { _ in true }) {
        let withoutText = SchemaRow([row.bytes(0), row.bytes(1), row.bytes(2), []])
        self =
            readsText(withoutText)
            ? SchemaRow([withoutText.type, withoutText.name, withoutText.table, row.bytes(3)]) : withoutText
    }

    private init(_ values: [[UInt8]]) {
        (self.type, self.name, self.table, self.sql) = (values[0], values[1], values[2], values[3])
    }

    /// The rows that `text` has as netstrings, four of them a line; nil if `text` has another form.
    static func all(in text: [UInt8]) -> [SchemaRow]? {
        var rest = text[...]
        var rows: [SchemaRow] = []
        while !rest.isEmpty {
            var values: [[UInt8]] = []
            while values.count < Self.columnCount {
                guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
                    let count = Int(String(decoding: rest[..<colon], as: UTF8.self)), count >= 0,
                    rest.endIndex - colon - 1 > count, rest[colon + 1 + count] == UInt8(ascii: ",")
                else { return nil }
                values.append(Array(rest[(colon + 1)..<(colon + 1 + count)]))
                rest = rest[(colon + 2 + count)...]
            }
            guard rest.popFirst() == UInt8(ascii: "\n") else { return nil }
            rows.append(SchemaRow(values))
        }
        return rows
    }

    /// A name as SQLite compares names: up to the first zero byte, with ASCII letters in lower case.
    static func folded(_ name: [UInt8]) -> [UInt8] {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return name.prefix { $0 != 0 }.map { capitals.contains($0) ? $0 | 0x20 : $0 }
    }

    func isOf(type: String) -> Bool { Self.folded(self.type).elementsEqual(type.utf8) }

    /// Whether it is an index that SQLite itself makes for a key of a table; such a row has no text.
    var isOwnIndexOfSQLite: Bool {
        self.sql.isEmpty && Self.folded(self.name).starts(with: "sqlite_autoindex_".utf8)
    }

    /// The name for messages, cut to 200 characters.
    var shownName: String { String(String(decoding: self.name, as: UTF8.self).prefix(200)) }
}
