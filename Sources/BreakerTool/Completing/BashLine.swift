/// A line as bash has it, up to the cursor, taken apart without expanding anything.
package struct BashLine {
    /// The words without their quotes; the last one ends at the cursor, and may be empty.
    package private(set) var words: [String] = []
    /// Whether the last word names a file that input comes from or output goes to.
    package private(set) var isRedirection = false
    /// What the last word has before the part that bash replaces.
    private var kept = ""
    /// The quotation mark that is open where that part begins.
    private var quote: Character?

    /// - Parameter part: the end of the line, which bash replaces.
    package init(_ line: String, replacing part: String) {
        // By scalars: no accent may stick to a quotation mark.
        let scalars = Array(line.unicodeScalars)
        let place = scalars.count - part.unicodeScalars.count
        var word = ""
        var isWord = false
        var open: Unicode.Scalar?
        var index = 0
        func append(_ scalar: Unicode.Scalar) { word.unicodeScalars.append(scalar) }
        func end() {
            if isWord, !self.isRedirection { self.words.append(word) }
            if isWord { self.isRedirection = false }
            word = ""
            isWord = false
        }
        while true {
            if index == place { (self.kept, self.quote) = (word, open.map(Character.init)) }
            guard index < scalars.count else { break }
            let scalar = scalars[index]
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            index += 1
            switch (scalar, open) {
            case ("'", "'"), ("\"", "\""): open = nil
            case (_, "'"): append(scalar)
            case ("\\", "\""):
                // Between these quotes the backslash quotes but a few.
                guard let next, "$`\"\\".unicodeScalars.contains(next) else {
                    append(scalar)
                    continue
                }
                append(next)
                index += 1
            case (_, "\""): append(scalar)
            case ("'", _), ("\"", _): (open, isWord) = (scalar, true)
            case ("\\", _):
                isWord = true
                guard let next else { continue }
                append(next)
                index += 1
            case (" ", _), ("\t", _), ("\n", _): end()
            case ("<", _), (">", _):
                end()
                self.isRedirection = true
            default:
                append(scalar)
                isWord = true
            }
        }
        self.words.append(word)
        if place < 0 || place > scalars.count { self.kept = word }
    }

    /// What bash is to put in the place of the part, so that the last word becomes `word`; nil if nothing can do that.
    package func replacement(for word: String) -> String? {
        guard word.utf8.starts(with: self.kept.utf8) else { return nil }
        let rest = String(decoding: word.utf8.dropFirst(self.kept.utf8.count), as: UTF8.self)
        var text = ""
        for scalar in rest.unicodeScalars {
            switch (self.quote, scalar) {
            case ("'", "'"): text += #"'\''"#
            case ("'", _): text.unicodeScalars.append(scalar)
            // Between these quotes bash takes `!` for history, and keeps the backslash that would save it.
            case ("\"", "!"): text += #""'!'""#
            case ("\"", "$"), ("\"", "`"), ("\"", "\""), ("\"", "\\"): text += "\\\(scalar)"
            case ("\"", _): text.unicodeScalars.append(scalar)
            default: text += Self.isSafe(scalar) ? "\(scalar)" : "\\\(scalar)"
            }
        }
        guard let quote = self.quote else { return text }
        // Where the text begins with the quotation mark that is open, readline replaces that one, too. Where the text
        // ends with one, readline takes it for the closing one.
        return (text.first == quote ? "\(quote)" : "") + text + (text.last == quote ? "\(quote)" : "")
    }

    /// Whether a character means itself to bash, and breaks no word for readline.
    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            || ("0"..."9").contains(scalar) || "_-./,+%".unicodeScalars.contains(scalar)
    }
}
