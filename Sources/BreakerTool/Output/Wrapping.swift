extension String {
    /// The text in lines of at most this many columns, broken at spaces; nil breaks no line.
    ///
    /// A word that is wider than a line stays whole: the terminal breaks it, and people can still copy it.
    ///
    /// - Parameter indent: how many spaces the lines after the first begin with.
    package func wrapped(to width: Int?, indent: Int = 0) -> [String] {
        guard let width, self.displayWidth > width else { return [self] }
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        var hasWord = false
        var spaces = 0
        for word in self.split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
            // Two spaces in a row have an empty word between them.
            if !word.isEmpty {
                if hasWord, line.displayWidth + spaces + word.displayWidth > width {
                    lines.append(line)
                    line = margin + word
                } else {
                    line += String(repeating: " ", count: spaces) + word
                }
                hasWord = true
                spaces = 0
            }
            spaces += 1
        }
        return lines + [line + String(repeating: " ", count: spaces - 1)]
    }

    /// The text with each of its lines wrapped; nil breaks no line.
    ///
    /// - Parameter hanging: how much further than its beginning the rest of a line is indented.
    package func wrappedLines(to width: Int?, hanging: Int = 0) -> String {
        guard let width else { return self }
        let lines = self.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.flatMap { line in
            let indent = line.prefix { $0 == " " }.count + hanging
            return String(line).wrapped(to: width, indent: min(indent, width / 2))
        }.joined(separator: "\n")
    }
}

extension Console {
    /// Adds lines for people to the output; a terminal gets them wrapped.
    ///
    /// - Parameter hanging: how much further than its beginning the rest of a line is indented.
    package func writeLines(_ text: String, hanging: Int = 0) {
        self.write(text.wrappedLines(to: self.width, hanging: hanging))
    }

    /// Adds a message, which goes to standard error; a terminal gets it wrapped.
    ///
    /// - Parameter hanging: how much further than its beginning the rest of a line is indented.
    package func writeError(_ text: String, hanging: Int = 0) {
        self.writeErrorAsItIs(text.wrappedLines(to: self.errorWidth, hanging: hanging))
    }
}
