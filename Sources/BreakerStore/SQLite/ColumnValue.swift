/// A plain value of SQL, as SQLite compares it.
enum ColumnValue: Equatable {
    case null
    case number(Double)
    /// Its bytes in UTF-8: Swift takes more texts for equal than SQLite does.
    case text([UInt8])
    /// A value of which nothing but the kind is known.
    case unknown(Kind)

    enum Kind { case whole, real, text, blob }

    /// Takes a number, which may have a sign, a text, NULL, TRUE or FALSE; nil if there is none.
    static func taken(from rest: inout ArraySlice<SQLToken>) -> ColumnValue? {
        guard let first = rest.popFirst() else { return nil }
        guard first.isSign("-") || first.isSign("+") else { return ColumnValue(first) }
        guard let token = rest.popFirst(), token.kind == .number else { return nil }
        return ColumnValue(number: first.text + token.text)
    }

    private init?(_ token: SQLToken) {
        switch token.kind {
        case .text: self = .text(Array(token.name.utf8))
        case .blob: self = .unknown(.blob)
        case .number: self.init(number: token.text)
        case .word:
            switch token.keyword {
            case "NULL": self = .null
            case "TRUE": self = .number(1)
            case "FALSE": self = .number(0)
            default: return nil
            }
        case .quotedName, .sign: return nil
        }
    }

    /// Numbers of so many digits have the same order for SQLite and for Swift, whatever either rounds.
    private static let exactDigits = 15

    /// Nil for digits that SQLite reads and this does not.
    private init?(number digits: String) {
        guard let number = Double(digits) else { return nil }
        let isExact = digits.utf8.count { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") } <= Self.exactDigits
        if isExact && (number.isNormal || number == 0) {
            self = .number(number)
        } else {
            self = .unknown(Int64(digits) == nil ? .real : .whole)
        }
    }

    /// What a column of this type of a STRICT table makes of it; nil if the column refuses it.
    func stored(as type: String) -> ColumnValue? {
        if self == .null { return .null }
        switch (type, self) {
        case ("ANY", _): return self
        case ("INT", .text(let bytes)), ("INTEGER", .text(let bytes)), ("REAL", .text(let bytes)):
            // Swift reads more as a number than SQLite does in a text.
            guard bytes.allSatisfy("0123456789+-.eE".utf8.contains) else { return nil }
            return ColumnValue(number: String(decoding: bytes, as: UTF8.self))?.stored(as: type)
        case ("INT", .number(let number)), ("INTEGER", .number(let number)):
            return Int64(exactly: number) == nil ? nil : self
        case ("INT", .unknown(.whole)), ("INTEGER", .unknown(.whole)), ("REAL", .number), ("REAL", .unknown(.real)):
            return self
        case ("REAL", .unknown(.whole)): return .unknown(.real)
        case ("TEXT", .text), ("TEXT", .unknown(.text)), ("BLOB", .unknown(.blob)): return self
        // The digits of a number are SQLite's to choose.
        case ("TEXT", .number), ("TEXT", .unknown(.whole)), ("TEXT", .unknown(.real)): return .unknown(.text)
        default: return nil
        }
    }

    enum Order { case less, equal, greater, different }

    /// How it compares with another one; nil if they are not of one kind: then it depends on their columns what SQLite
    /// makes of them.
    func compared(with other: ColumnValue) -> Order? {
        switch (self, other) {
        case (.number(let one), .number(let two)): one < two ? .less : one > two ? .greater : .equal
        case (.text(let one), .text(let two)) where one == two: .equal
        // The order of other letters is another one in a store in UTF-16.
        case (.text(let one), .text(let two)) where (one + two).contains { $0 >= 0x80 }: .different
        case (.text(let one), .text(let two)): one.lexicographicallyPrecedes(two) ? .less : .greater
        default: nil
        }
    }
}

/// What is true, false or, where a value is missing, neither.
enum Truth {
    case yes, no, unknown

    init(_ isSo: Bool) { self = isSo ? .yes : .no }

    /// Nil for a text, of which SQLite takes the number at its beginning.
    init?(_ value: ColumnValue) {
        switch value {
        case .null: self = .unknown
        case .number(let number): self.init(number != 0)
        case .text, .unknown: return nil
        }
    }

    var value: ColumnValue {
        switch self {
        case .yes: .number(1)
        case .no: .number(0)
        case .unknown: .null
        }
    }

    static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .yes: .no
        case .no: .yes
        case .unknown: .unknown
        }
    }

    func and(_ other: Truth) -> Truth {
        switch (self, other) {
        case (.no, _), (_, .no): .no
        case (.yes, .yes): .yes
        case (.unknown, _), (_, .unknown): .unknown
        }
    }

    func or(_ other: Truth) -> Truth { !(!self).and(!other) }
}
