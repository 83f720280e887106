/// A word, number, text or sign of a schema's text; comments and spaces are none.
struct SQLToken: Equatable {
    enum Kind {
        /// A keyword or a name without quotes.
        case word
        case quotedName
        case number
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

    /// Whether this is a keyword; case does not matter.
    func `is`(_ keyword: String) -> Bool { self.kind == .word && self.text.uppercased() == keyword }

    /// What a name or a text says: without quotes, and with the quotes in it said once.
    var name: String {
        guard self.kind == .quotedName || self.kind == .text, let quote = self.text.last else { return self.text }
        let inside = String(self.text.dropFirst().dropLast())
        return quote == "]" ? inside : inside.replacing("\(quote)\(quote)", with: "\(quote)")
    }

    func isSign(_ sign: String) -> Bool { self.kind == .sign && self.text == sign }

    /// The tokens of `sql`, or nil if a quote or a comment has no end, or a byte is no SQL.
    static func all(of sql: String) -> [Self]? {
        let bytes = Array(sql.utf8)
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
            } else if Self.isOfWord(byte) {
                let end = rest.firstIndex { !Self.isOfWord($0) && $0 != UInt8(ascii: ".") } ?? bytes.count
                let isNumber = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
                tokens.append(Self(isNumber ? .number : .word, bytes[place..<end]))
                place = end
            } else {
                guard byte > UInt8(ascii: " "), byte < 0x7f else { return nil }
                tokens.append(Self(.sign, [byte]))
                place += 1
            }
        }
        return tokens
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

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
