/// A plain value of SQL, as SQLite compares it.
enum ColumnValue: Equatable {
    case null
    case number(Double)
    /// Its bytes: SQLite knows no letters beyond ASCII.
    case text([UInt8])
    /// Bytes, or a text that is not known.
    case other

    /// Takes a number, which may have a sign, a text, NULL, TRUE or FALSE; nil if there is none.
    static func taken(from rest: inout ArraySlice<SQLToken>) -> ColumnValue? {
        guard let first = rest.popFirst() else { return nil }
        if first.isSign("-") || first.isSign("+") {
            guard let value = rest.popFirst(), case .number(let number) = ColumnValue(value) else { return nil }
            return .number(first.isSign("-") ? -number : number)
        }
        return ColumnValue(first)
    }

    private init?(_ token: SQLToken) {
        switch token.kind {
        case .text: self = .text(Array(token.name.utf8))
        case .blob: self = .other
        case .number:
            // Digits that SQLite reads and this does not make a column that is not used.
            guard let number = Double(token.text) else { return nil }
            self = .number(number)
        case .word:
            switch token.text.uppercased() {
            case "NULL": self = .null
            case "TRUE": self = .number(1)
            case "FALSE": self = .number(0)
            default: return nil
            }
        case .quotedName, .sign: return nil
        }
    }

    /// What a column of this type of a STRICT table makes of it; nil if the column refuses it.
    func stored(as type: String) -> ColumnValue? {
        switch type {
        case "ANY": return self
        case "INT", "INTEGER":
            return self.isNull ? .null : self.asNumber.flatMap { Int64(exactly: $0) == nil ? nil : .number($0) }
        case "REAL": return self.isNull ? .null : self.asNumber.map { .number($0) }
        case "TEXT":
            // The digits of a number are SQLite's to choose.
            if case .number = self { return .other }
            return self == .other ? nil : self
        case "BLOB": return self.isNull || self == .other ? self : nil
        default: return nil
        }
    }

    var isNull: Bool { self == .null }

    private var asNumber: Double? {
        switch self {
        case .number(let number): number
        // Swift reads more as a number than SQLite does in a text.
        case .text(let bytes) where bytes.allSatisfy("0123456789+-.eE".utf8.contains):
            Double(String(decoding: bytes, as: UTF8.self))
        case .text: nil
        case .null, .other: nil
        }
    }

    /// Whether it is less than, equal to or greater than another one, as -1, 0 or 1; nil if they are not of one kind:
    /// then it depends on their columns what SQLite makes of them.
    func compared(with other: ColumnValue) -> Int? {
        switch (self, other) {
        case (.number(let one), .number(let two)): one < two ? -1 : one > two ? 1 : 0
        case (.text(let one), .text(let two)):
            one == two ? 0 : one.lexicographicallyPrecedes(two) ? -1 : 1
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
        case .text, .other: return nil
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
