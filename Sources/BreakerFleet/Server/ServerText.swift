#if PostgreSQL
import BreakerStore

/// Converts texts from and for the server.
enum ServerText {
    private static let maxLength = 1_000

    /// A server's text as people see it: escaped, on one line, and not too long.
    static func shown(_ text: String) -> String { self.cut(text).escaped }

    /// The first 1,000 Unicode scalars of a text; a `Character` may have any number of combining marks.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > self.maxLength else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(self.maxLength)))
    }

    /// An array of texts as PostgreSQL writes it: `{"a","b",NULL}`.
    static func array(_ texts: [String?]) -> String {
        var literal = "{"
        for (index, text) in texts.enumerated() {
            if index > 0 { literal += "," }
            guard let text else {
                literal += "NULL"
                continue
            }
            literal += "\""
            for scalar in text.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { literal += "\\" }
                literal.unicodeScalars.append(scalar)
            }
            literal += "\""
        }
        return literal + "}"
    }

    static func array(_ numbers: [Int64?]) -> String { self.array(numbers.map { $0.map { String($0) } }) }
}
#endif
