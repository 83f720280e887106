import BreakerStoreMigrations

/// A statement of the library's steps that creates a table or an index, as bytes.
///
/// Each opening needs these. Strings, and arrays of types of our own, would cost it more than all that is compared.
struct SchemaStatement {
    let type: StaticString
    let name: ArraySlice<UInt8>
    let table: ArraySlice<UInt8>
    /// All of it, without the semicolon: so SQLite keeps it.
    private(set) var sql: ArraySlice<UInt8>

    /// SQLite makes this table with the first table that has an AUTOINCREMENT.
    static let sequence = Array("CREATE TABLE sqlite_sequence(name,seq)".utf8)
    private static let nameOfSequence = Array("sqlite_sequence".utf8)

    /// Nil if it creates no table or index.
    private init?(_ sql: ArraySlice<UInt8>) {
        guard Self.word(0, of: sql).elementsEqual("CREATE".utf8) else { return nil }
        let kind = Self.word(1, of: sql)
        self.sql = sql
        self.name = Self.word(2, of: sql)
        if kind.elementsEqual("TABLE".utf8), !Self.word(3, of: sql).isEmpty {
            self.type = "table"
            self.table = self.name
        } else if kind.elementsEqual("INDEX".utf8), Self.word(3, of: sql).elementsEqual("ON".utf8) {
            self.type = "index"
            self.table = Self.word(4, of: sql)
        } else {
            return nil
        }
    }

    /// The table `sqlite_sequence`.
    private init() {
        self.type = "table"
        self.name = Self.nameOfSequence[...]
        self.table = self.name
        self.sql = Self.sequence[...]
    }

    /// The n-th of the words, between which there are spaces.
    private static func word(_ number: Int, of sql: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var start = sql.startIndex
        var left = number
        while true {
            while start < sql.endIndex, sql[start] == UInt8(ascii: " ") { start += 1 }
            var end = start
            while end < sql.endIndex, sql[end] != UInt8(ascii: " ") { end += 1 }
            if left == 0 || start == end { return sql[start..<end] }
            left -= 1
            start = end
        }
    }

    private var hasAutoincrement: Bool {
        self.sql.indices.contains {
            self.sql[$0] == UInt8(ascii: "A") && self.sql[$0...].starts(with: "AUTOINCREMENT".utf8)
        }
    }

    /// Hands over what the steps create, in the order in which SQLite makes it; false if a step does anything but
    /// create tables and indexes and add columns.
    static func forEach(of steps: [Migration], _ body: (Self) -> Void) -> Bool {
        guard let statements = Self.texts(of: steps) else { return false }
        var hasSequence = false
        for text in statements where !Self.addsColumn(text) {
            guard var statement = Self(text) else { return false }
            if Self.word(1, of: text).elementsEqual("TABLE".utf8) {
                statement.addColumns(
                    statements.filter { Self.addsColumn($0) && Self.word(2, of: $0) == statement.name })
            }
            body(statement)
            if !hasSequence, statement.hasAutoincrement {
                hasSequence = true
                body(Self())
            }
        }
        return true
    }

    /// Whether it is `ALTER TABLE … ADD COLUMN …`.
    private static func addsColumn(_ sql: ArraySlice<UInt8>) -> Bool {
        Self.word(0, of: sql).elementsEqual("ALTER".utf8) && Self.word(3, of: sql).elementsEqual("ADD".utf8)
            && Self.word(4, of: sql).elementsEqual("COLUMN".utf8)
    }

    /// Writes the columns into the table's text as SQLite does: each behind a comma, before the closing parenthesis.
    ///
    /// The table must have no constraints of its own behind its columns: SQLite would put the new ones before those.
    private mutating func addColumns(_ alterations: [ArraySlice<UInt8>]) {
        guard !alterations.isEmpty, let end = self.sql.lastIndex(of: UInt8(ascii: ")")) else { return }
        var sql = Array(self.sql[..<end])
        for alteration in alterations {
            sql.append(contentsOf: ", ".utf8)
            sql.append(contentsOf: alteration[Self.word(5, of: alteration).startIndex...])
        }
        sql.append(contentsOf: self.sql[end...])
        self.sql = sql[...]
    }

    /// The statements of the steps, without their semicolons; nil if one has no end.
    private static func texts(of steps: [Migration]) -> [ArraySlice<UInt8>]? {
        var texts: [ArraySlice<UInt8>] = []
        for step in steps {
            let sql = step.sql
            var start: Int?
            var line = 0
            while line < sql.count {
                var end = line
                while end < sql.count, sql[end] != UInt8(ascii: "\n") { end += 1 }
                // Between two statements there is nothing, or a comment.
                if start != nil || !(line == end || sql[line..<end].starts(with: "--".utf8)) {
                    let first = start ?? line
                    start = first
                    if end > line, sql[end - 1] == UInt8(ascii: ";") {
                        texts.append(sql[first..<end - 1])
                        start = nil
                    }
                }
                line = end + 1
            }
            guard start == nil else { return nil }
        }
        return texts
    }
}
