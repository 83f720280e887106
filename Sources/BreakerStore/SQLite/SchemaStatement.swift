import BreakerStoreMigrations

/// A statement of the library's steps that creates a table or an index, as bytes.
///
/// Each opening needs these. Strings would cost it more than all that is compared.
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
    private init?(_ text: Text) {
        guard text.has("CREATE", at: 0) else { return nil }
        self.sql = text.sql
        self.name = text.words[2]
        if text.has("TABLE", at: 1), !text.words[3].isEmpty {
            self.type = "table"
            self.table = self.name
        } else if text.has("INDEX", at: 1), text.has("ON", at: 3) {
            self.type = "index"
            self.table = text.words[4]
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

    private var hasAutoincrement: Bool {
        self.sql.indices.contains {
            self.sql[$0] == UInt8(ascii: "A") && self.sql[$0...].starts(with: "AUTOINCREMENT".utf8)
        }
    }

    /// Hands over what the steps create, in the order in which SQLite makes it; false if a step does anything but
    /// create tables and indexes and add columns.
    static func forEach(of steps: [Migration], _ body: (Self) -> Void) -> Bool {
        guard let texts = Text.all(of: steps) else { return false }
        var hasSequence = false
        for text in texts where !text.addsColumn {
            guard var statement = Self(text) else { return false }
            statement.addColumns(texts.filter { $0.addsColumn && $0.words[2] == text.words[2] })
            body(statement)
            if !hasSequence, statement.hasAutoincrement {
                hasSequence = true
                body(Self())
            }
        }
        return true
    }

    /// Writes the columns into the table's text as SQLite does: each behind a comma, before the closing parenthesis.
    ///
    /// The table must have no constraints of its own behind its columns: SQLite would put the new ones before those.
    private mutating func addColumns(_ alterations: [Text]) {
        guard !alterations.isEmpty, let end = self.sql.lastIndex(of: UInt8(ascii: ")")) else { return }
        var sql = Array(self.sql[..<end])
        for alteration in alterations {
            sql.append(contentsOf: ", ".utf8)
            sql.append(contentsOf: alteration.sql[alteration.words[5].startIndex...])
        }
        sql.append(contentsOf: self.sql[end...])
        self.sql = sql[...]
    }
}

/// A statement of the steps, and its first words, each of which is looked for once.
private struct Text {
    let sql: ArraySlice<UInt8>
    /// As many as tell what the statement does; those that it does not have are empty.
    let words: [ArraySlice<UInt8>]
    /// Whether it is `ALTER TABLE … ADD COLUMN …`.
    let addsColumn: Bool

    private init(_ sql: ArraySlice<UInt8>) {
        self.sql = sql
        var words: [ArraySlice<UInt8>] = []
        words.reserveCapacity(6)
        var start = sql.startIndex
        while words.count < 6 {
            while start < sql.endIndex, sql[start] == UInt8(ascii: " ") { start += 1 }
            var end = start
            while end < sql.endIndex, sql[end] != UInt8(ascii: " ") { end += 1 }
            words.append(sql[start..<end])
            start = end
        }
        self.words = words
        self.addsColumn =
            Self.are("ALTER", words[0]) && Self.are("ADD", words[3]) && Self.are("COLUMN", words[4])
    }

    func has(_ word: StaticString, at place: Int) -> Bool { Self.are(word, self.words[place]) }

    private static func are(_ word: StaticString, _ bytes: ArraySlice<UInt8>) -> Bool {
        word.withUTF8Buffer { unsafe bytes.elementsEqual($0) }
    }

    /// The statements of the steps, without their semicolons; nil if one has no end.
    static func all(of steps: [Migration]) -> [Text]? {
        var texts: [Text] = []
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
                        texts.append(Text(sql[first..<end - 1]))
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
