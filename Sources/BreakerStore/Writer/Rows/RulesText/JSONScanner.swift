/// A strict JSON parser (https://www.rfc-editor.org/rfc/rfc8259) for texts that any program may have written.
///
/// It also rejects what the standard leaves open and parsers of different languages read differently: duplicate keys,
/// lone surrogates, bytes that are not UTF-8, and a byte order mark. Its bounds on length and depth keep a hostile text
/// cheap: except for the search for duplicate keys, the time grows with the length alone.
struct JSONScanner {
    /// The longest text that is read, in bytes.
    static let maxBytes = 4_096
    /// How deep objects and lists may be nested; the outermost is the first level.
    static let maxDepth = 8

    private let text: [UInt8]
    private var index = 0
    /// How many objects and lists are open at the current byte.
    private var depth = 0

    /// Returns the value of the whole text.
    static func value(of text: [UInt8]) throws(JSONTextError) -> ScannedValue {
        var scanner = JSONScanner(text: text)
        guard text.count <= Self.maxBytes else {
            throw scanner.error("the text has \(text.count) bytes; it goes on beyond the limit", at: Self.maxBytes)
        }
        let value = try scanner.value()
        guard scanner.current == nil else { throw scanner.expected("the end of the text") }
        return value
    }

    // MARK: - Values

    private static let words: [(word: StaticString, kind: ScannedValue.Kind)] = [
        ("true", .boolean(true)), ("false", .boolean(false)), ("null", .null),
    ]

    /// Reads a value and the space around it.
    private mutating func value() throws(JSONTextError) -> ScannedValue {
        self.skipSpace()
        let start = self.index
        let kind: ScannedValue.Kind
        switch self.current {
        case "{"?:
            kind = .object(
                try self.elements(until: "}", "brace") { (scanner, members) throws(JSONTextError) in
                    try scanner.member(after: members)
                })
        case "["?:
            kind = .array(
                try self.elements(until: "]", "bracket") { (scanner, _) throws(JSONTextError) in try scanner.value() })
        case "\""?: kind = .string(try self.string())
        case "-"?, ("0"..."9")?:
            try self.number()
            kind = .number
        default:
            let rest = self.text[self.index...]
            let found = Self.words.first { $0.word.withUTF8Buffer { unsafe rest.starts(with: $0) } }
            guard let found else { throw self.expected("a value") }
            self.index += found.word.utf8CodeUnitCount
            kind = found.kind
        }
        let value = ScannedValue(kind: kind, text: self.text[start..<self.index])
        self.skipSpace()
        return value
    }

    /// Reads the elements of an object or a list; `read` gets the elements before its own.
    private mutating func elements<Element>(
        until closing: Unicode.Scalar, _ name: StaticString,
        read: (inout JSONScanner, [Element]) throws(JSONTextError) -> Element
    ) throws(JSONTextError) -> [Element] {
        guard self.depth < Self.maxDepth else {
            throw self.error("more than \(Self.maxDepth) objects and lists inside each other")
        }
        self.depth += 1
        defer { self.depth -= 1 }
        self.index += 1
        self.skipSpace()
        var elements: [Element] = []
        if self.advance(over: closing) { return elements }
        repeat { elements.append(try read(&self, elements)) } while self.advance(over: ",")
        guard self.advance(over: closing) else { throw self.expected("a comma or a closing \(name)") }
        return elements
    }

    private mutating func member(after members: [ScannedMember]) throws(JSONTextError) -> ScannedMember {
        self.skipSpace()
        guard self.current == "\"" else { throw self.expected("a key in quotation marks") }
        let start = self.index
        let key = try self.string()
        let keyText = self.text[start..<self.index]
        // Of duplicate keys some parsers take the first, others the last.
        guard !members.contains(where: { $0.key == key }) else {
            let name = StoredText.cut(String(decoding: key, as: UTF8.self))
            throw self.error("the key \(name.quoted) stands a second time in its object", at: start)
        }
        self.skipSpace()
        guard self.advance(over: ":") else { throw self.expected("a colon") }
        return ScannedMember(key: key, keyText: keyText, value: try self.value())
    }

    private mutating func number() throws(JSONTextError) {
        _ = self.advance(over: "-")
        let start = self.index
        try self.digits()
        guard self.text[start] != UInt8(ascii: "0") || self.index == start + 1 else {
            throw self.error("a number with a leading zero", at: start)
        }
        if self.advance(over: ".") { try self.digits() }
        if self.advance(over: "e") || self.advance(over: "E") {
            if !self.advance(over: "+") { _ = self.advance(over: "-") }
            try self.digits()
        }
    }

    private mutating func digits() throws(JSONTextError) {
        let start = self.index
        while let character = self.current, ("0"..."9").contains(character) { self.index += 1 }
        guard self.index > start else { throw self.expected("a digit") }
    }

    // MARK: - Strings

    /// Reads a string, and returns its bytes without escapes.
    private mutating func string() throws(JSONTextError) -> ArraySlice<UInt8> {
        self.index += 1
        let start = self.index
        // The bytes before index `copied`, without escapes. A string without escapes is a slice of the text.
        var unescaped: [UInt8] = []
        var copied = start
        while let character = self.current {
            switch character {
            case "\"":
                let rest = self.text[copied..<self.index]
                self.index += 1
                return copied == start ? rest : (unescaped + rest)[...]
            case "\\":
                unescaped += self.text[copied..<self.index]
                unescaped += try self.escape().utf8
                copied = self.index
            case ..<" ": throw self.error("a control character in a string")
            case ..<"\u{80}": self.index += 1
            default:
                var parser = UTF8.ForwardParser()
                var bytes = self.text[self.index...].makeIterator()
                guard case .valid(let scalar) = parser.parseScalar(from: &bytes) else {
                    throw self.error("bytes that are not UTF-8")
                }
                self.index += scalar.count
            }
        }
        throw self.expected("a closing quotation mark")
    }

    private static let escapes: KeyValuePairs<Unicode.Scalar, String> = [
        "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    private mutating func escape() throws(JSONTextError) -> String {
        let start = self.index
        self.index += 1
        guard let character = self.current else { throw self.expected("the rest of an escape") }
        self.index += 1
        if let text = Self.escapes.first(where: { $0.key == character })?.value { return text }
        guard character == "u" else { throw self.error("an escape that JSON doesn't have", at: start) }
        var units = [try self.codeUnit()]
        if UTF16.isLeadSurrogate(units[0]), self.advance(over: "\\"), self.advance(over: "u") {
            units.append(try self.codeUnit())
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw self.error("half of a surrogate pair", at: start)
        }
        return text
    }

    private mutating func codeUnit() throws(JSONTextError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = self.current.flatMap({ Character($0).hexDigitValue }) else {
                throw self.expected("four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            self.index += 1
        }
        return unit
    }

    // MARK: - Characters

    /// The next byte, as a Unicode scalar; nil at the end.
    private var current: Unicode.Scalar? { self.index < self.text.count ? Unicode.Scalar(self.text[self.index]) : nil }

    /// Advances over a character if it is next; returns whether it was.
    private mutating func advance(over character: Unicode.Scalar) -> Bool {
        guard self.current == character else { return false }
        self.index += 1
        return true
    }

    private mutating func skipSpace() {
        while self.advance(over: " ") || self.advance(over: "\n") || self.advance(over: "\r")
            || self.advance(over: "\t")
        {}
    }

    private func expected(_ what: String) -> JSONTextError {
        self.error(self.current == nil ? "the text ends; expected \(what)" : "expected \(what)")
    }

    private func error(_ problem: String, at byte: Int? = nil) -> JSONTextError {
        JSONTextError(problem: problem, byte: byte ?? self.index)
    }
}

/// What is wrong with a JSON text, and where.
struct JSONTextError: Error, Hashable, CustomStringConvertible {
    let problem: String
    /// The offset of the byte, from 0.
    let byte: Int

    var description: String { "\(self.problem) at byte \(self.byte)" }
}
