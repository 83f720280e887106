/// A table or an index as the file's schema describes it; nothing of the text is ever run.
struct SchemaObject: Equatable {
    let type: String
    let name: String
    let table: String
    let sql: String

    /// Tables, indexes, triggers and views; SQLite's own indexes have no text.
    static let all = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
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
    /// Whether the type is one that SQLite writes.
    ///
    /// SQLite also reads one in other letters, but drops no index of it.
    var hasKnownType: Bool { self.isTable || self.isIndex || self.isTrigger || self.type == "view" }
    var isOfSQLite: Bool { SQLToken.folded(self.name).starts(with: "sqlite_".utf8) }

    /// Whether SQLite takes the names for one.
    ///
    /// Their ASCII letters may differ in case; triggers have names of their own.
    func isNamed(like other: Self) -> Bool {
        self.isTrigger == other.isTrigger && Self.areAlike(self.name, other.name)
    }

    func isAbout(_ other: Self) -> Bool { Self.areAlike(self.table, other.table) }

    private static func areAlike(_ name: String, _ other: String) -> Bool {
        name.utf8.count == other.utf8.count && SQLToken.folded(name) == SQLToken.folded(other)
    }

    /// Whether it says what the library's own says, and at most has harmless columns of others besides.
    func isAtLeast(_ known: Self) -> Bool {
        guard self.type == known.type, self.name == known.name, self.table == known.table else { return false }
        if self.sql.utf8.elementsEqual(known.sql.utf8) { return true }
        // SQLite counts the columns of its own tables.
        guard !self.isOfSQLite, let mine = TableText(self.sql), let other = TableText(known.sql) else { return false }
        return mine.isAtLeast(other)
    }

    /// The names of a table's columns, as SQLite compares them.
    var columns: [[UInt8]] { self.isTable ? TableText(self.sql)?.names ?? [] : [] }

    /// Whether it is an index on columns and nothing else: no expression that SQLite would have to work out, no
    /// condition, and no rule that a row could break.
    var isPlainIndex: Bool { self.isIndexOnColumns(mayBeUnique: false) }

    /// Whether SQLite can look through a table or an index of somebody else without working out an expression of
    /// theirs.
    var isHarmlessToCheck: Bool {
        if self.isIndex { return self.isIndexOnColumns(mayBeUnique: true) }
        guard self.isTable else { return true }
        guard let tokens = SQLToken.all(of: self.sql), tokens.count > 1, tokens[1].is("TABLE"),
            Self.haveKnownOrders(tokens)
        else { return false }
        let isDefault = zip(tokens, tokens.dropFirst()).contains { $0.is("DEFAULT") && $1.isSign("(") }
        return !isDefault && !tokens.contains { $0.is("CHECK") || $0.is("AS") || $0.is("GENERATED") }
    }

    /// Whether SQLite itself has each order that the text names: without one of them nothing can be written or looked
    /// through.
    private static func haveKnownOrders(_ tokens: [SQLToken]) -> Bool {
        zip(tokens, tokens.dropFirst()).allSatisfy { !$0.is("COLLATE") || $1.isKnownOrder }
    }

    private func isIndexOnColumns(mayBeUnique: Bool) -> Bool {
        guard self.isIndex, var tokens = SQLToken.all(of: self.sql)?[...] else { return false }
        func take(_ keyword: String) -> Bool {
            guard tokens.first?.is(keyword) ?? false else { return false }
            tokens.removeFirst()
            return true
        }
        func takeName() -> Bool { tokens.popFirst()?.isName ?? false }
        guard take("CREATE"), !take("UNIQUE") || mayBeUnique, take("INDEX"), takeName(), take("ON"), takeName(),
            tokens.popFirst()?.isSign("(") ?? false
        else {
            return false
        }
        while takeName() {
            if take("COLLATE"), !(tokens.popFirst()?.isKnownOrder ?? false) { return false }
            if !take("ASC") { _ = take("DESC") }
            guard let sign = tokens.popFirst() else { return false }
            if sign.isSign(")") { return tokens.isEmpty }
            guard sign.isSign(",") else { return false }
        }
        return false
    }
}
