/// Columns that another program, such as a later version of the library, has added to a table of the library.
///
/// The table is used only if SQLite does no more for them than compare and copy values.
enum AddedColumns {
    private static let types: Set<String> = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
    private static let wordsOfChecks: Set<String> = ["IN", "IS", "NOT", "NULL", "AND", "OR", "BETWEEN", "LENGTH"]
    /// These may stand before a parenthesis; every other word there would be a function.
    private static let wordsBeforeParentheses: Set<String> = ["IN", "NOT", "AND", "OR", "BETWEEN", "LENGTH"]
    private static let signsOfChecks: Set<String> = ["(", ")", ",", "=", "<", ">", "!", "+", "-"]
    /// More than any check needs.
    private static let longestCheck = 100

    /// Whether `tokens` are columns, each behind a comma: a name, a type of a STRICT table, and maybe NOT NULL, a
    /// DEFAULT that is a plain value, and a CHECK that does no more than compare.
    ///
    /// - Parameter known: the columns before them.
    static func areHarmless(_ tokens: ArraySlice<SQLToken>, besides known: ArraySlice<SQLToken>) -> Bool {
        var names = Set(known.lazy.filter { $0.kind == .word }.map { $0.text })
        var rest = tokens
        while let comma = rest.popFirst() {
            guard comma.isSign(","), let name = rest.popFirst(), name.kind == .word, let type = rest.popFirst(),
                type.kind == .word, Self.types.contains(type.text.uppercased())
            else { return false }
            names.insert(name.text)
            while let token = rest.first, !token.isSign(",") {
                rest.removeFirst()
                guard Self.takeConstraint(token, &rest, names) else { return false }
            }
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
                guard Self.wordsOfChecks.contains(token.text.uppercased()) || names.contains(token.text) else {
                    return false
                }
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
