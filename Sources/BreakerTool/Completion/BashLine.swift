/// A command line of bash up to the cursor, split without expanding anything.
package struct BashLine {
    /// The words without their quotes; the last word ends at the cursor, and may be empty.
    package private(set) var words: [String] = []
    /// Whether the last word is the file of a redirection.
    package private(set) var isRedirection = false
    /// The beginning of the last word, before the part that bash replaces.
    private var unreplaced = ""
    /// The quotation mark that is open at the beginning of that part.
    private var quote: Character?

    /// Splits a line.
    ///
    /// - Parameter part: the end of the line, which bash replaces.
    package init(_ line: String, replacing part: String) {
        // By scalars, because a `Character` may combine a quotation mark with an accent.
        let scalars = Array(line.unicodeScalars)
        let partStart = scalars.count - part.unicodeScalars.count
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
            if index == partStart { (self.unreplaced, self.quote) = (word, open.map(Character.init)) }
            guard index < scalars.count else { break }
            let scalar = scalars[index]
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            index += 1
            switch (scalar, open) {
            case ("'", "'"), ("\"", "\""): open = nil
            case (_, "'"): append(scalar)
            case ("\\", "\""):
                // Between double quotes the backslash quotes only a few characters.
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
        if partStart < 0 || partStart > scalars.count { self.unreplaced = word }
    }

    /// The text by which bash must replace the part, so that the last word becomes `word`; nil if there is none.
    package func replacement(for word: String) -> String? {
        guard word.utf8.starts(with: self.unreplaced.utf8) else { return nil }
        let rest = String(decoding: word.utf8.dropFirst(self.unreplaced.utf8.count), as: UTF8.self)
        var text = ""
        for scalar in rest.unicodeScalars {
            switch (self.quote, scalar) {
            case ("'", "'"): text += #"'\''"#
            case ("'", _): text.unicodeScalars.append(scalar)
            // Between double quotes bash expands `!` from its history, and does not remove a backslash before it.
            case ("\"", "!"): text += #""'!'""#
            case ("\"", "$"), ("\"", "`"), ("\"", "\""), ("\"", "\\"): text += "\\\(scalar)"
            case ("\"", _): text.unicodeScalars.append(scalar)
            default: text += Self.isSafe(scalar) ? "\(scalar)" : "\\\(scalar)"
            }
        }
        guard let quote = self.quote else { return text }
        // If the text begins with the open quotation mark, readline replaces that mark, too. If the text ends with the
        // mark, readline treats it as the closing mark.
        return (text.first == quote ? "\(quote)" : "") + text + (text.last == quote ? "\(quote)" : "")
    }

    /// Whether a character has no special meaning to bash, and does not end a word for readline.
    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            || ("0"..."9").contains(scalar) || "_-./,+%".unicodeScalars.contains(scalar)
    }
}
