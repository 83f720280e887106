/// A table or an index as the file's schema describes it; nothing of the text is ever run.
struct SchemaObject: Equatable {
    let type: String
    let name: String
    let table: String
    let sql: String

    /// Tables, indexes, triggers and views; SQLite's own indexes have no text.
    static let all = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    static let columnCount: Int32 = 4

    init(type: String, name: String, table: String, sql: String) {
        self.type = type
        self.name = name
        self.table = table
        self.sql = sql
    }

    init(_ row: Row) { self.init(type: row.text(0), name: row.text(1), table: row.text(2), sql: row.text(3)) }

    var isTable: Bool { self.type == "table" }
    var isIndex: Bool { self.type == "index" }
    private var isTrigger: Bool { self.type == "trigger" }

    /// Whether SQLite takes the names for one.
    ///
    /// Their ASCII letters may differ in case; triggers have names of their own.
    func isNamed(like other: Self) -> Bool {
        self.isTrigger == other.isTrigger && Self.areAlike(self.name, other.name)
    }

    func isAbout(_ other: Self) -> Bool { Self.areAlike(self.table, other.table) }

    private static func areAlike(_ name: String, _ other: String) -> Bool {
        name == other || name.utf8.count == other.utf8.count && name.lowercased() == other.lowercased()
    }

    /// Whether it says what the library's own says, and at most has harmless columns of others besides.
    func isAtLeast(_ known: Self) -> Bool {
        guard self.type == known.type, self.name == known.name, self.table == known.table else { return false }
        if self.sql == known.sql { return true }
        guard self.isTable else { return SQLToken.all(of: self.sql).map { $0 == SQLToken.all(of: known.sql) } ?? false }
        guard let mine = TableText(self.sql), let other = TableText(known.sql) else { return false }
        return mine.isAtLeast(other)
    }

    /// The names of a table's columns, in small letters.
    var columns: [String] { self.isTable ? TableText(self.sql)?.names ?? [] : [] }

    /// Whether it is an index on columns and nothing else: no expression that SQLite would have to work out, no
    /// condition, and no rule that a row could break.
    var isPlainIndex: Bool { self.isIndex && self.isIndexOnColumns && !self.isUnique }

    /// Whether SQLite can look through a table or an index of somebody else without working out an expression of
    /// theirs.
    var isHarmlessToCheck: Bool {
        if self.isIndex { return self.isIndexOnColumns }
        guard self.isTable else { return true }
        guard let tokens = SQLToken.all(of: self.sql), tokens.count > 1, tokens[1].is("TABLE"),
            Self.haveKnownOrders(tokens)
        else { return false }
        let isDefault = zip(tokens, tokens.dropFirst()).contains { $0.is("DEFAULT") && $1.isSign("(") }
        return !isDefault && !tokens.contains { $0.is("CHECK") || $0.is("AS") || $0.is("GENERATED") }
    }

    private var isUnique: Bool { SQLToken.all(of: self.sql)?.dropFirst().first?.is("UNIQUE") ?? true }

    private static let knownOrders: Set<String> = ["BINARY", "NOCASE", "RTRIM"]

    /// Whether SQLite itself has each order that the text names: without one of them nothing can be written or looked
    /// through.
    private static func haveKnownOrders(_ tokens: [SQLToken]) -> Bool {
        zip(tokens, tokens.dropFirst()).allSatisfy { word, order in
            !word.is("COLLATE") || Self.knownOrders.contains(order.name.uppercased())
        }
    }

    private var isIndexOnColumns: Bool {
        guard var tokens = SQLToken.all(of: self.sql) else { return false }
        guard Self.haveKnownOrders(tokens) else { return false }
        tokens.removeAll { $0.is("UNIQUE") }
        let names = tokens.dropFirst(6).dropLast()
        return tokens.count > 7 && tokens[0].is("CREATE") && tokens[1].is("INDEX") && tokens[3].is("ON")
            && tokens[5].isSign("(") && tokens[tokens.count - 1].isSign(")")
            && names.allSatisfy { $0.kind != .sign && $0.kind != .number || $0.isSign(",") }
    }
}
