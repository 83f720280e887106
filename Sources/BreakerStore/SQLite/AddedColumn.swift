/// A column that another program, such as a later version of the library, has added to a table of the library.
///
/// The table is used only if SQLite does no more for such a column than compare and copy values.
enum AddedColumn {
    private static let types: Set<String> = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
    private static let wordsOfChecks: Set<String> = ["IN", "IS", "NOT", "NULL", "AND", "OR", "BETWEEN", "LENGTH"]
    /// These may stand before a parenthesis; every other word there would be a function.
    private static let wordsBeforeParentheses: Set<String> = ["IN", "NOT", "AND", "OR", "BETWEEN", "LENGTH"]
    // SQLite takes these words for operators as well as for names. How long one takes depends on what it compares.
    private static let costlyOperators: Set<String> = ["LIKE", "GLOB", "REGEXP", "MATCH"]
    private static let signsOfChecks: Set<String> = ["(", ")", ",", "=", "<", ">", "!", "+", "-"]
    /// More than any check needs.
    private static let longestCheck = 100

    /// Whether `column` is a name, a type of a STRICT table, and maybe NOT NULL, a DEFAULT that is a plain value, and a
    /// CHECK that does no more than compare.
    ///
    /// - Parameter names: those of the table's columns that need no quotes.
    static func isHarmless(_ column: ArraySlice<SQLToken>, inTableOf names: Set<String>) -> Bool {
        var rest = column
        guard let name = rest.popFirst(), name.kind == .word || name.kind == .quotedName,
            let type = rest.popFirst(), type.kind == .word, Self.types.contains(type.text.uppercased())
        else { return false }
        while let token = rest.popFirst() {
            guard Self.takeConstraint(token, &rest, names) else { return false }
        }
        return true
    }

    private static func takeConstraint(
        _ first: SQLToken,
        _ rest: inout ArraySlice<SQLToken>,
        _ names: Set<String>
    ) -> Bool {
        if first.is("NOT") { return rest.popFirst()?.is("NULL") ?? false }
        if first.is("DEFAULT") { return Self.takeValue(&rest) }
        return first.is("CHECK") && Self.takeCheck(&rest, names)
    }

    private static func takeValue(_ rest: inout ArraySlice<SQLToken>) -> Bool {
        guard let first = rest.popFirst() else { return false }
        let isSigned = first.isSign("-") || first.isSign("+")
        guard let value = isSigned ? rest.popFirst() : first else { return false }
        return value.kind == .number || !isSigned && (value.kind == .text || value.is("NULL"))
    }

    private static func takeCheck(_ rest: inout ArraySlice<SQLToken>, _ names: Set<String>) -> Bool {
        guard rest.first?.isSign("(") == true else { return false }
        var depth = 0
        var previous: SQLToken?
        for _ in 0..<Self.longestCheck {
            guard let token = rest.popFirst() else { return false }
            switch token.kind {
            case .word:
                let word = token.text.uppercased()
                let isName = names.contains(token.text) && !Self.costlyOperators.contains(word)
                guard isName || Self.wordsOfChecks.contains(word) else { return false }
            case .sign:
                guard Self.signsOfChecks.contains(token.text) else { return false }
                if token.isSign("("), let previous, previous.kind == .word,
                    !Self.wordsBeforeParentheses.contains(previous.text.uppercased())
                {
                    return false
                }
                if token.isSign("(") { depth += 1 }
                if token.isSign(")") { depth -= 1 }
            case .number, .text: break
            case .quotedName: return false
            }
            previous = token
            if depth == 0 { return true }
        }
        return false
    }
}
