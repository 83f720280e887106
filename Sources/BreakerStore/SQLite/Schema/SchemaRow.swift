/// A row of `sqlite_schema`, as raw bytes; nothing of its text is ever run.
struct SchemaRow: Equatable {
    let type: [UInt8]
    let name: [UInt8]
    let table: [UInt8]
    /// The row's SQL text; empty if there is none, or if it is not needed.
    let sql: [UInt8]

    static let all = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    private static let columnCount = 4

    /// - Parameter readsText: whether type, name and table say that the text is needed; other programs' may be long.
    init(_ row: Row, readsText: (SchemaRow) -> Bool = { _ in true }) {
        let about = SchemaRow([row.bytes(0), row.bytes(1), row.bytes(2), []])
        self = readsText(about) ? SchemaRow([about.type, about.name, about.table, row.bytes(3)]) : about
    }

    private init(_ values: [[UInt8]]) {
        (self.type, self.name, self.table, self.sql) = (values[0], values[1], values[2], values[3])
    }

    /// The rows that `text` encodes, each value after its length; nil if `text` is no such encoding.
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

    /// A name in the form that SQLite compares: ASCII letters in lower case, up to the first zero byte.
    static func folded(_ name: [UInt8]) -> [UInt8] {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return name.prefix { $0 != 0 }.map { capitals.contains($0) ? $0 | 0x20 : $0 }
    }

    func isOf(type: String) -> Bool { Self.folded(self.type).elementsEqual(type.utf8) }

    /// Whether it is an index that SQLite itself makes for a key of a table; such a row has no text.
    var isOwnIndexOfSQLite: Bool {
        self.sql.isEmpty && Self.folded(self.name).starts(with: "sqlite_autoindex_".utf8)
    }

    /// The name for people, cut to 200 characters.
    var shownName: String { String(String(decoding: self.name, as: UTF8.self).prefix(200)) }
}
