/// Text for a manual page, in the language of mdoc(7).
package enum Mdoc {
    /// A text within a line, or as the arguments of a macro, unless it begins with punctuation.
    package static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\e"
            // Escaped, because a page would show other quotation marks and dashes than those that are typed.
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "\"": escaped += "\\(dq"
            case _ where !scalar.isASCII: escaped += "\\[u" + Self.hexadecimal(scalar) + "]"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    /// Lines of text without macros; each sentence begins a line, as mdoc(7) wants.
    package static func lines(_ text: String) -> String {
        text.replacing(". ", with: ".\n").split(separator: "\n").map { line in
            let line = Self.escaped(String(line))
            return (line.hasPrefix(".") ? "\\&" : "") + line + "\n"
        }.joined()
    }

    /// One argument of a macro: blanks do not end it, and no word in it is a macro.
    package static func argument(_ text: String) -> String { "\"\\&\(Self.escaped(text))\"" }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}
