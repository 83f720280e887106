/// A column that another program, such as a later version of the library, has added to a table of the library.
///
/// The table is used only if SQLite does no more for such columns than compare and copy values, and if it takes rows
/// that have no values for them, as the library writes them.
struct AddedColumn {
    /// As SQLite compares it.
    private let name: [UInt8]
    /// What a row of the library has there.
    private var value = ColumnValue.null
    private var isNotNull = false
    /// Whether texts are compared in another way than byte by byte.
    private var hasOrder = false
    private var checks: [ArraySlice<SQLToken>] = []

    /// Whether each of `columns` is a name, a type of a STRICT table, and maybe NOT NULL, a DEFAULT that is a plain
    /// value, an order, and CHECKs that do no more than compare such columns with values.
    ///
    /// A CHECK that names a column of the library might refuse what the library writes.
    static func areHarmless(_ columns: [ArraySlice<SQLToken>]) -> Bool {
        var row: [[UInt8]: ColumnValue] = [:]
        var checks: [ArraySlice<SQLToken>] = []
        var hasOrder = false
        for tokens in columns {
            guard let column = AddedColumn(tokens), !column.isNotNull || column.value != .null else { return false }
            row[column.name] = column.value
            hasOrder = hasOrder || column.hasOrder
            checks += column.checks
        }
        return (checks.isEmpty || !hasOrder)
            && checks.allSatisfy { check in
                // Of what is neither true nor false SQLite takes a row, too.
                switch HarmlessCheck.truth(of: check, in: row) {
                case .yes, .unknown: true
                case .no, nil: false
                }
            }
    }

    private init?(_ tokens: ArraySlice<SQLToken>) {
        var rest = tokens
        guard let name = rest.popFirst(), name.isName, !name.is("CONSTRAINT"), let type = rest.popFirst(), type.isName
        else { return nil }
        self.name = SQLToken.folded(name.name)
        while let token = rest.popFirst() {
            guard let keyword = token.keyword, self.take(keyword, &rest) else { return nil }
        }
        guard let type = SQLToken.inCapitals(type.name), let value = self.value.stored(as: type) else { return nil }
        self.value = value
    }

    private mutating func take(_ keyword: String, _ rest: inout ArraySlice<SQLToken>) -> Bool {
        switch keyword {
        case "NULL": return true
        case "NOT":
            self.isNotNull = true
            return rest.popFirst()?.is("NULL") ?? false
        case "CONSTRAINT": return rest.popFirst()?.isName ?? false
        case "COLLATE":
            self.hasOrder = true
            return rest.popFirst()?.isKnownOrder ?? false
        case "DEFAULT": return self.takeDefault(&rest)
        case "CHECK": return self.takeCheck(&rest)
        default: return false
        }
    }

    private mutating func takeDefault(_ rest: inout ArraySlice<SQLToken>) -> Bool {
        let isInParentheses = rest.first?.isSign("(") ?? false
        if isInParentheses { rest.removeFirst() }
        guard let value = ColumnValue.taken(from: &rest) else { return false }
        self.value = value
        return !isInParentheses || rest.popFirst()?.isSign(")") ?? false
    }

    private mutating func takeCheck(_ rest: inout ArraySlice<SQLToken>) -> Bool {
        let whole = rest
        var depth = 0
        while let token = rest.popFirst() {
            if token.isSign("(") { depth += 1 }
            if token.isSign(")") { depth -= 1 }
            guard depth == 0 else { continue }
            self.checks.append(whole[..<rest.startIndex])
            return true
        }
        return false
    }
}
