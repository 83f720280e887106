/// A text, and who reads it: the library's scanner, and Python's `json`.
struct ScannerCase: Sendable, CustomStringConvertible {
    enum Readers: Sendable {
        /// Both read it, as the same value.
        case both
        /// The scanner refuses what Python reads.
        case python
        case nobody
    }

    let text: [UInt8]
    let readers: Readers
    /// What the scanner says; nil if it reads the text.
    let error: String?

    var description: String { String(String(decoding: self.text, as: UTF8.self).prefix(60)).debugDescription }

    private static func both(_ text: String) -> ScannerCase {
        .init(text: Array(text.utf8), readers: .both, error: nil)
    }

    private static func nobody(_ text: String, _ error: String) -> ScannerCase { .nobody(Array(text.utf8), error) }

    private static func nobody(_ text: [UInt8], _ error: String) -> ScannerCase {
        .init(text: text, readers: .nobody, error: error)
    }

    private static func python(_ text: String, _ error: String) -> ScannerCase {
        .init(text: Array(text.utf8), readers: .python, error: error)
    }

    static let all = Self.good + Self.wrong + Self.notUTF8 + Self.onlyPython

    static let good: [ScannerCase] = [
        both("{}"), both("[]"), both(" \t\r\n{ \"a\" : [ 1 , 2 ] } \n"), both("\"\""), both("null"), both("true"),
        both("false"), both("[true,false,null]"), both("0"), both("-0"), both("-0.0"), both("0e0"), both("0E+7"),
        both("1.5e-3"), both("12345678901234567890123"), both("-9223372036854775808"), both("9223372036854775807"),
        both("9223372036854775808"), both("1e999"), both("-1e999"), both("1e-999"), both("5e-324"),
        both("0.1000000000000000055511151231257827"), both("1" + String(repeating: "0", count: 400) + ".5"),
        both(#""\"\\\/\b\f\n\r\t""#), both(#""\u0000\u001f\u007F\u00e9\uABCD""#), both(#""\ud83d\ude00""#),
        both(#""\uDBFF\uDFFF""#), both("\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}é\""),
        both(#"{"a":{"a":{"a":1}},"b":{"a":1}}"#), both(#"{"":1," ":2,"A":3,"a":4}"#),
        // Equal for Swift's `String`, but not the same bytes.
        both("{\"\u{E9}\":1,\"e\u{301}\":2}"), both("{\"K\":1,\"\u{212A}\":2}"),
        both("[[[[[[[[]]]]]]]]"), both(#"{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}"#),
        both("[" + String(repeating: " ", count: 4_094) + "]"),
        both("\"" + String(repeating: "é", count: 2_047) + "\""), both(String(repeating: "9", count: 4_096)),
    ]

    static let wrong: [ScannerCase] = [
        nobody("", "the text ends; expected a value at byte 0"),
        nobody("  ", "the text ends; expected a value at byte 2"),
        nobody("{", "the text ends; expected a key in quotation marks at byte 1"),
        nobody("{\"a", "the text ends; expected a closing quotation mark at byte 3"),
        nobody("{\"a\"", "the text ends; expected a colon at byte 4"),
        nobody("{\"a\":", "the text ends; expected a value at byte 5"),
        nobody("{\"a\":1", "the text ends; expected a comma or a closing brace at byte 6"),
        nobody("{\"a\":1,", "the text ends; expected a key in quotation marks at byte 7"),
        nobody("{\"a\":1,}", "expected a key in quotation marks at byte 7"),
        nobody("{,}", "expected a key in quotation marks at byte 1"),
        nobody("{a:1}", "expected a key in quotation marks at byte 1"),
        nobody("{'a':1}", "expected a key in quotation marks at byte 1"),
        nobody("{1:1}", "expected a key in quotation marks at byte 1"),
        nobody("{\"a\":1 \"b\":2}", "expected a comma or a closing brace at byte 7"),
        nobody("{\"a\",1}", "expected a colon at byte 4"),
        nobody("[1,]", "expected a value at byte 3"),
        nobody("[,1]", "expected a value at byte 1"),
        nobody("[1 2]", "expected a comma or a closing bracket at byte 3"),
        nobody("[1}", "expected a comma or a closing bracket at byte 2"),
        nobody("{} {}", "expected the end of the text at byte 3"),
        nobody("{}\u{0}", "expected the end of the text at byte 2"),
        nobody("{}//", "expected the end of the text at byte 2"),
        nobody("[1/**/]", "expected a comma or a closing bracket at byte 2"),
        nobody("\u{A0}1", "expected a value at byte 0"),
        nobody("\u{B}1", "expected a value at byte 0"),
        nobody("\u{FEFF}{}", "expected a value at byte 0"),
        nobody("tru", "expected a value at byte 0"),
        nobody("truer", "expected the end of the text at byte 4"),
        nobody("True", "expected a value at byte 0"),
        nobody("nil", "expected a value at byte 0"),
        nobody("01", "a number with a leading zero at byte 0"),
        nobody("-01", "a number with a leading zero at byte 1"),
        nobody("-", "the text ends; expected a digit at byte 1"),
        nobody("+1", "expected a value at byte 0"),
        nobody(".5", "expected a value at byte 0"),
        nobody("1.", "the text ends; expected a digit at byte 2"),
        nobody("1.e5", "expected a digit at byte 2"),
        nobody("1e", "the text ends; expected a digit at byte 2"),
        nobody("1e+-1", "expected a digit at byte 3"),
        nobody("0x10", "expected the end of the text at byte 1"),
        nobody("1_000", "expected the end of the text at byte 1"),
        nobody("١", "expected a value at byte 0"),
        nobody("inf", "expected a value at byte 0"),
        nobody("\"\n\"", "a control character in a string at byte 1"),
        nobody("\"\u{0}\"", "a control character in a string at byte 1"),
        nobody("\"\u{1F}\"", "a control character in a string at byte 1"),
        nobody("\"\\", "the text ends; expected the rest of an escape at byte 2"),
        nobody(#""\x41""#, "an escape that JSON doesn't have at byte 1"),
        nobody(#""\U0041""#, "an escape that JSON doesn't have at byte 1"),
        nobody("\"\\\n\"", "an escape that JSON doesn't have at byte 1"),
        nobody(#""\u004""#, "expected four hexadecimal digits at byte 6"),
        nobody(#""\u+041""#, "expected four hexadecimal digits at byte 3"),
        nobody(#""\u00４1""#, "expected four hexadecimal digits at byte 5"),
        nobody(#""\ud83d\u""#, "expected four hexadecimal digits at byte 9"),
    ]

    static let notUTF8: [ScannerCase] =
        [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xF5, 0x80, 0x80, 0x80], [0xFF],
            [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xEF, 0xBF],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x28, 0xA1],
        ].map { (bytes: [UInt8]) in nobody([0x22] + bytes + [0x22], "bytes that are not UTF-8 at byte 1") }
        + [
            nobody([0x22, 0x61, 0xFE, 0x22], "bytes that are not UTF-8 at byte 2"),
            nobody([0x22, 0xE2, 0x82], "bytes that are not UTF-8 at byte 1"),
            nobody([0xFF, 0xFE, 0x7B, 0, 0x7D, 0], "expected a value at byte 0"),
        ]

    static let onlyPython: [ScannerCase] = [
        // Python takes the last, other parsers the first.
        python(#"{"a":1,"a":2}"#, "the key 'a' stands a second time in its object at byte 7"),
        python(#"{"a":1,"b":2,"\u0061":2}"#, "the key 'a' stands a second time in its object at byte 13"),
        python(#"[{"\n":1,"\u000a":2}]"#, #"the key '\u{A}' stands a second time in its object at byte 9"#),
        // No text in UTF-8 can have them.
        python(#""\ud800""#, "half of a surrogate pair at byte 1"),
        python(#""\udc00""#, "half of a surrogate pair at byte 1"),
        python(#""\ud800\u0041""#, "half of a surrogate pair at byte 1"),
        python(#""\ud800\ud800""#, "half of a surrogate pair at byte 1"),
        python(#""\ud800\n""#, "half of a surrogate pair at byte 1"),
        // These are words of JavaScript, not of JSON.
        python("NaN", "expected a value at byte 0"), python("[Infinity]", "expected a value at byte 1"),
        python("-Infinity", "expected a digit at byte 1"),
        // The scanner's bounds.
        python("[[[[[[[[[]]]]]]]]]", "more than 8 objects and lists inside each other at byte 8"),
        python(
            #"{"a":[{"a":[{"a":[{"a":[{}]}]}]}]}"#, "more than 8 objects and lists inside each other at byte 24"),
        python(
            "[" + String(repeating: " ", count: 4_095) + "]",
            "the text has 4097 bytes; it goes on beyond the limit at byte 4096"),
    ]
}
