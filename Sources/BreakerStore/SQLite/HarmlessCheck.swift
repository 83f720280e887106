/// Works out what a CHECK of others says of a row that the library writes.
///
/// The CHECK may compare columns with values, and nothing else: it has no function but `length`, and no operator whose
/// cost depends on what it compares. SQLite runs it only once it is known to take the row.
struct HarmlessCheck {
    private var rest: ArraySlice<SQLToken>
    /// The values of the columns that it may name, by their names as SQLite compares them.
    private let row: [[UInt8]: ColumnValue]
    private var depth = 0

    /// More than any check needs.
    private static let longest = 1_000
    private static let deepest = 20

    /// Words that are not used: `x IS TRUE` is no comparison, a column may be called TRUE, and CURRENT_DATE is the day
    /// also where a column has that name.
    private static let strange = ["TRUE", "FALSE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"]

    /// What the expression says in parentheses that `tokens` are; nil if they are no such one.
    static func truth(of tokens: ArraySlice<SQLToken>, in row: [[UInt8]: ColumnValue]) -> Truth? {
        guard tokens.count <= Self.longest, !tokens.contains(where: { Self.strange.contains($0.keyword ?? "") }) else {
            return nil
        }
        var check = HarmlessCheck(rest: tokens, row: row)
        guard let value = check.takeInParentheses(), check.rest.isEmpty else { return nil }
        return Truth(value)
    }

    private init(rest: ArraySlice<SQLToken>, row: [[UInt8]: ColumnValue]) {
        self.rest = rest
        self.row = row
    }

    // MARK: - Tokens

    private mutating func take(_ keyword: String) -> Bool {
        guard self.rest.first?.is(keyword) ?? false else { return false }
        self.rest.removeFirst()
        return true
    }

    private mutating func takeSign(_ sign: String) -> Bool {
        guard self.rest.first?.isSign(sign) ?? false else { return false }
        self.rest.removeFirst()
        return true
    }

    /// How an operator judges what was compared; nil for what is not known.
    private typealias Judgement = (ColumnValue.Order) -> Bool?

    /// Takes an operator, which may be two tokens.
    private mutating func takeComparison() -> Judgement? {
        for count in [2, 1] {
            let signs = self.rest.prefix(count)
            guard signs.count == count, signs.allSatisfy({ $0.kind == .sign }),
                let judges = Self.judgement(signs.map(\.text).joined())
            else { continue }
            self.rest.removeFirst(count)
            return judges
        }
        return nil
    }

    private static func judgement(_ sign: String) -> Judgement? {
        switch sign {
        case "=", "==": { $0 == .equal }
        case "<>", "!=": { $0 != .equal }
        case "<": { $0 == .different ? nil : $0 == .less }
        case ">": { $0 == .different ? nil : $0 == .greater }
        case "<=": { $0 == .different ? nil : $0 != .greater }
        case ">=": { $0 == .different ? nil : $0 != .less }
        default: nil
        }
    }

    private mutating func takeColumn() -> ColumnValue? {
        guard let token = self.rest.first, token.kind == .word || token.kind == .quotedName,
            let value = self.row[SQLToken.folded(token.name)], !(self.rest.dropFirst().first?.isSign("(") ?? false)
        else { return nil }
        self.rest.removeFirst()
        return value
    }

    // MARK: - The grammar, loosest first

    private mutating func takeInParentheses() -> ColumnValue? {
        guard self.depth < Self.deepest, self.takeSign("(") else { return nil }
        self.depth += 1
        defer { self.depth -= 1 }
        guard let value = self.takeExpression(), self.takeSign(")") else { return nil }
        return value
    }

    private mutating func takeExpression() -> ColumnValue? {
        self.takeJoined(by: "OR", { $0.or($1) }, { $0.takeConjunction() })
    }

    private mutating func takeConjunction() -> ColumnValue? {
        self.takeJoined(by: "AND", { $0.and($1) }, { $0.takeNegation() })
    }

    /// Takes one value, or what several say together.
    private mutating func takeJoined(
        by keyword: String, _ join: (Truth, Truth) -> Truth, _ takeOne: (inout Self) -> ColumnValue?
    ) -> ColumnValue? {
        guard let first = takeOne(&self) else { return nil }
        guard self.rest.first?.is(keyword) ?? false else { return first }
        guard var truth = Truth(first) else { return nil }
        while self.take(keyword) {
            guard let next = takeOne(&self).flatMap(Truth.init) else { return nil }
            truth = join(truth, next)
        }
        return truth.value
    }

    private mutating func takeNegation() -> ColumnValue? {
        guard self.take("NOT") else { return self.takeComparisonOfTwo() }
        guard self.depth < Self.deepest else { return nil }
        self.depth += 1
        defer { self.depth -= 1 }
        return self.takeNegation().flatMap(Truth.init).map { (!$0).value }
    }

    private mutating func takeComparisonOfTwo() -> ColumnValue? {
        guard let one = self.takeOperand() else { return nil }
        if let judges = self.takeComparison() {
            return self.takeOperand().flatMap { Self.compare(one, $0, judges) }?.value
        }
        if self.take("ISNULL") { return Truth(one == .null).value }
        if self.take("NOTNULL") { return Truth(one != .null).value }
        if self.take("IS") {
            let isNot = self.take("NOT")
            guard let two = self.takeOperand(), let isSame = Self.areSame(one, two) else { return nil }
            return Truth(isSame != isNot).value
        }
        let isNot = self.take("NOT")
        let truth: Truth?
        if self.take("IN") {
            truth = self.takeList(of: one)
        } else if self.take("BETWEEN") {
            truth = self.takeRange(of: one)
        } else if isNot {
            return self.take("NULL") ? Truth(one != .null).value : nil
        } else {
            return one
        }
        return truth.map { (isNot ? !$0 : $0).value }
    }

    private mutating func takeList(of one: ColumnValue) -> Truth? {
        guard self.takeSign("(") else { return nil }
        var truth = Truth.no
        repeat {
            guard let two = ColumnValue.taken(from: &self.rest), let isEqual = Self.compare(one, two, "=")
            else {
                return nil
            }
            truth = truth.or(isEqual)
        } while self.takeSign(",")
        return self.takeSign(")") ? truth : nil
    }

    private mutating func takeRange(of one: ColumnValue) -> Truth? {
        guard let least = self.takeOperand(), self.take("AND"), let most = self.takeOperand(),
            let isAbove = Self.compare(one, least, ">="), let isBelow = Self.compare(one, most, "<=")
        else { return nil }
        return isAbove.and(isBelow)
    }

    private mutating func takeOperand() -> ColumnValue? {
        if self.rest.first?.isSign("(") ?? false { return self.takeInParentheses() }
        if let value = self.takeColumn() { return value }
        guard self.take("LENGTH") else { return ColumnValue.taken(from: &self.rest) }
        guard self.takeSign("("), let value = self.takeColumn(), self.takeSign(")") else { return nil }
        switch value {
        case .null: return .null
        case .text(let bytes): return .number(Double(String(decoding: bytes, as: UTF8.self).unicodeScalars.count))
        case .number, .unknown: return nil
        }
    }

    // MARK: - Values

    private static func compare(_ one: ColumnValue, _ two: ColumnValue, _ sign: String) -> Truth? {
        Self.judgement(sign).flatMap { Self.compare(one, two, $0) }
    }

    private static func compare(_ one: ColumnValue, _ two: ColumnValue, _ judges: Judgement) -> Truth? {
        one == .null || two == .null ? .unknown : one.compared(with: two).flatMap(judges).map { Truth($0) }
    }

    private static func areSame(_ one: ColumnValue, _ two: ColumnValue) -> Bool? {
        one == .null || two == .null ? one == two : one.compared(with: two).map { $0 == .equal }
    }
}
