/// The text of a table, taken apart: what stands before its columns, each column or constraint, and what follows.
struct TableText {
    /// From `CREATE TABLE` to the first parenthesis.
    let head: ArraySlice<SQLToken>
    /// The columns, then what is said of the table as a whole, without the commas between them.
    let parts: [ArraySlice<SQLToken>]
    /// From the last parenthesis on.
    let tail: ArraySlice<SQLToken>

    /// Fails where the parentheses of `sql` do not match, or there are none.
    init?(_ sql: String) {
        guard let tokens = SQLToken.all(of: sql), let open = tokens.firstIndex(where: { $0.isSign("(") }) else {
            return nil
        }
        var parts: [ArraySlice<SQLToken>] = []
        var start = open + 1
        var depth = 1
        var end: Int?
        for place in tokens.indices[start...] {
            let token = tokens[place]
            if token.isSign("(") { depth += 1 }
            if token.isSign(")") { depth -= 1 }
            guard depth == 0 || depth == 1 && token.isSign(",") else { continue }
            parts.append(tokens[start..<place])
            start = place + 1
            guard depth == 0 else { continue }
            end = place
            break
        }
        guard let end else { return nil }
        self.head = tokens[...open]
        self.parts = parts
        self.tail = tokens[end...]
    }

    /// Whether it says what `known` says, and has harmless columns of others at most besides.
    ///
    /// Such a column stands where SQLite puts it: behind the columns that there were when it was added, and before what
    /// is said of the table as a whole. The library itself may have added columns later.
    func isAtLeast(_ known: Self) -> Bool {
        guard SQLToken.areAlike(self.head, known.head), SQLToken.areAlike(self.tail, known.tail) else { return false }
        var expected = known.parts[...]
        var others: [ArraySlice<SQLToken>] = []
        for part in self.parts {
            if let next = expected.first, SQLToken.areAlike(part, next) {
                expected.removeFirst()
            } else {
                others.append(part)
            }
        }
        return expected.isEmpty && AddedColumn.areHarmless(others)
    }

    /// The names of the columns, and the first words of what is said of the table as a whole, as SQLite compares them.
    var names: [[UInt8]] { self.parts.compactMap { $0.first.map { SQLToken.folded($0.name) } } }
}
