#if PostgreSQL
import BreakerStore

/// Texts on their way from and to the server.
enum ServerText {
    static let longest = 1_000

    /// A server's text made fit for people: on one line, and not too long.
    static func told(_ text: String) -> String { self.cut(text).escaped }

    /// The first 1,000 characters.
    ///
    /// They are Unicode scalars, because a character as readers see it may have any number of marks.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > self.longest else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(self.longest)))
    }

    /// An array of texts as PostgreSQL writes it: `{"a","b",NULL}`.
    static func array(_ texts: [String?]) -> String {
        var literal = "{"
        for (place, text) in texts.enumerated() {
            if place > 0 { literal += "," }
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
