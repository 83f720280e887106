/// A word, number, text or sign of a schema's text; comments and spaces are none.
struct SQLToken: Equatable {
    enum Kind {
        /// A keyword or a name without quotes; one before a point and the name behind that are one word.
        case word
        case quotedName
        case number
        /// A value that is given by its bytes, as `x'00'`.
        case blob
        case text
        case sign
    }

    let kind: Kind
    /// As it stands in the schema, quotes too.
    let text: String

    init(_ kind: Kind, _ text: some Sequence<UInt8>) {
        self.kind = kind
        self.text = String(decoding: Array(text), as: UTF8.self)
    }

    /// Compares bytes: for Swift the Kelvin sign equals the letter K.
    static func == (one: Self, two: Self) -> Bool {
        one.kind == two.kind && one.text.utf8.elementsEqual(two.text.utf8)
    }

    /// The word in capitals, if it may be a keyword.
    var keyword: String? { self.kind == .word ? Self.inCapitals(self.text) : nil }

    /// Whether this is a keyword; case does not matter.
    func `is`(_ keyword: String) -> Bool { self.keyword == keyword }

    /// A name in capitals; nil if it has other letters than those of ASCII.
    ///
    /// SQLite knows no other ones, and Swift makes a capital I of a small one without a dot, too.
    static func inCapitals(_ name: String) -> String? {
        name.utf8.allSatisfy { $0 < 0x80 } ? name.uppercased() : nil
    }

    /// The name as SQLite compares it: byte by byte, and only the letters of ASCII without regard to case.
    static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// What a name or a text says: without quotes, and with the quotes in it said once.
    var name: String {
        guard self.kind == .quotedName || self.kind == .text, let quote = self.text.last else { return self.text }
        let inside = String(self.text.dropFirst().dropLast())
        return quote == "]" ? inside : inside.replacing("\(quote)\(quote)", with: "\(quote)")
    }

    /// Whether SQLite takes this for a name where a name must be: also a text.
    var isName: Bool { self.kind == .word || self.kind == .quotedName || self.kind == .text }

    /// Whether SQLite itself has the order of this name.
    var isKnownOrder: Bool {
        self.isName && ["BINARY", "NOCASE", "RTRIM"].contains(Self.inCapitals(self.name) ?? "")
    }

    /// Whether they say the same; a name may stand in quotes, as after a renaming.
    ///
    /// A keyword in quotes is none, but SQLite can't read a text then that would say the same without the quotes.
    static func areAlike(_ tokens: ArraySlice<SQLToken>, _ known: ArraySlice<SQLToken>) -> Bool {
        tokens.count == known.count
            && zip(tokens, known).allSatisfy { token, known in
                token == known || token.kind == .quotedName && Self(.word, token.name.utf8) == known
            }
    }

    func isSign(_ sign: String) -> Bool { self.kind == .sign && self.text == sign }

    /// A longer text is not looked through.
    ///
    /// SQLite allows 2,000 columns, which take less with names that people choose.
    private static let longest = 1 << 17

    /// The tokens of `sql`, or nil if it is too long, a quote or a comment has no end, or a byte is no SQL.
    static func all(of sql: String) -> [Self]? {
        guard sql.utf8.count <= Self.longest else { return nil }
        let bytes = Array(sql.utf8)
        guard !Self.hasStrange(bytes) else { return nil }
        var tokens: [Self] = []
        var place = 0
        while place < bytes.count {
            let rest = bytes[place...]
            let byte = bytes[place]
            if Self.isSpace(byte) {
                place += 1
            } else if rest.starts(with: "--".utf8) {
                place = rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            } else if rest.starts(with: "/*".utf8) {
                let end = rest.indices.dropFirst(2).first { bytes[$0...].starts(with: "*/".utf8) }
                guard let end else { return nil }
                place = end + 2
            } else if let (kind, closing) = Self.quote(byte) {
                guard let end = Self.end(of: rest, closing) else { return nil }
                tokens.append(Self(kind, bytes[place...end]))
                place = end + 1
            } else if Self.beginsNumber(rest) {
                let end = Self.endOfNumber(rest)
                tokens.append(Self(.number, bytes[place..<end]))
                place = end
            } else if rest.starts(with: "x'".utf8) || rest.starts(with: "X'".utf8) {
                guard let end = Self.end(of: rest.dropFirst(), UInt8(ascii: "'")) else { return nil }
                tokens.append(Self(.blob, bytes[place...end]))
                place = end + 1
            } else if Self.isOfWord(byte) {
                let end = Self.endOfWord(rest)
                tokens.append(Self(.word, bytes[place..<end]))
                place = end
            } else {
                guard byte > UInt8(ascii: " "), byte < 0x7f else { return nil }
                tokens.append(Self(.sign, [byte]))
                place += 1
            }
        }
        return tokens
    }

    /// Whether there is a character that SQLite takes for another.
    ///
    /// A text ends at a zero, in a comment too. A byte order mark is a space. U+FFFD stands here for any bytes that are
    /// no text, and in a store in UTF-16 for U+FFFE and U+FFFF.
    private static func hasStrange(_ bytes: [UInt8]) -> Bool {
        if bytes.contains(0) { return true }
        var rest = bytes[...]
        while let place = rest.firstIndex(of: 0xef) {
            rest = rest[(place + 1)...]
            if rest.starts(with: [0xbb, 0xbf]) || rest.starts(with: [0xbf]) && rest.dropFirst().first ?? 0 >= 0xbd {
                return true
            }
        }
        return false
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }

    private static func quote(_ byte: UInt8) -> (Kind, closing: UInt8)? {
        switch byte {
        case UInt8(ascii: "'"): (.text, byte)
        case UInt8(ascii: "\""), UInt8(ascii: "`"): (.quotedName, byte)
        case UInt8(ascii: "["): (.quotedName, UInt8(ascii: "]"))
        default: nil
        }
    }

    /// Where a name or text in quotes ends; a doubled quote is one of its characters.
    private static func end(of quoted: ArraySlice<UInt8>, _ closing: UInt8) -> Int? {
        var rest = quoted.dropFirst()
        while let end = rest.firstIndex(of: closing) {
            rest = rest[(end + 1)...]
            guard closing != UInt8(ascii: "]"), rest.first == closing else { return end }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func beginsNumber(_ rest: ArraySlice<UInt8>) -> Bool {
        let digits = rest.first == UInt8(ascii: ".") ? rest.dropFirst() : rest
        return digits.first.map(Self.isDigit) ?? false
    }

    private static func endOfWord(_ rest: ArraySlice<UInt8>) -> Int {
        rest.firstIndex { !Self.isOfWord($0) && $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "$") } ?? rest.endIndex
    }

    private static func endOfNumber(_ rest: ArraySlice<UInt8>) -> Int {
        let end = Self.endOfWord(rest)
        let isHexadecimal = rest.starts(with: "0x".utf8) || rest.starts(with: "0X".utf8)
        let behind = rest[end...]
        guard !isHexadecimal, let last = rest[..<end].last, last | 0x20 == UInt8(ascii: "e"),
            let sign = behind.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+"),
            behind.dropFirst().first.map(Self.isDigit) ?? false
        else { return end }
        return Self.endOfWord(behind.dropFirst())
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
