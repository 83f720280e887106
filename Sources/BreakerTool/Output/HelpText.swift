package import BreakerStoreJSON

/// The texts of a program's help.
package struct HelpText: Sendable {
    private let program: Program
    private let columns: Int

    /// Makes the texts for a terminal of this width; they are never wider than usual.
    package init(of program: Program, width: Int? = nil) {
        self.program = program
        self.columns = min(width ?? Self.usualColumns, Self.usualColumns)
    }

    /// The answer to a command line without a verb.
    package var short: String {
        self.wrapped(
            """
            \(self.usageLine("\(self.program.name) \(self.program.synopsis)"))

            \(self.verbs)
            '\(self.program.name) help' shows more, '\(self.program.name) help VERB' all about a verb.

            """)
    }

    package var long: String {
        self.wrapped(
            """
            \(self.usageLine("\(self.program.name) \(self.program.synopsis)"))

            \(self.program.sentence)

            verbs:
            \(self.verbs)
            options of every verb:
            \(self.lines(self.program.commonOptions.map { ($0.usage, $0.help) }))
            exit codes:
            \(self.lines(self.program.exitCodes.map { ("\($0.code.rawValue)", $0.meaning) }))
            examples:
            \(self.program.examples.map { "  \($0)\n" }.joined().wrappedLines(to: self.columns, hanging: 4))
            """)
    }

    package func about(_ verb: any DescribedVerb.Type) -> String {
        var text = "\(self.usageLine(self.usage(verb)))\n\n\(Self.sentence(verb.summary))\n"
        if !verb.details.isEmpty { text += self.paragraphs(verb.details) + "\n" }
        if !verb.options.isEmpty { text += "\noptions:\n" + self.lines(verb.options.map { ($0.usage, $0.help) }) }
        let common = self.program.commonOptions(of: verb)
        return self.wrapped(text + "\noptions of every verb:\n" + self.lines(common.map { ($0.usage, $0.help) }))
    }

    package func json(_ verb: any DescribedVerb.Type) -> JSONValue {
        let options = (verb.options + self.program.commonOptions(of: verb)).map {
            (name: $0.spelling, value: $0.placeholder, help: $0.help)
        }
        return .verb(name: verb.name, usage: self.usage(verb), summary: verb.summary, options: options)
    }

    private var verbs: String { self.lines(self.program.verbs.map { ($0.name, $0.summary) }) }

    private func usage(_ verb: any DescribedVerb.Type) -> String {
        "\(self.program.name) \(verb.name) \(Self.operands(verb))"
    }

    /// The part of the command line after the name of a verb.
    package static func operands(_ verb: any DescribedVerb.Type) -> String {
        if verb.synopsis.isEmpty { return "[OPTION…]" }
        // Behind `--` an option would be one of the command.
        return verb.synopsis.contains(" -- ") ? verb.synopsis : "\(verb.synopsis) [OPTION…]"
    }

    package static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + "."
    }

    /// The usual width of a terminal.
    private static let usualColumns = 80

    /// The pairs as two columns.
    private func lines(_ pairs: [(String, String)]) -> String {
        let width = pairs.map(\.0.displayWidth).max() ?? 0
        let indent = width + 4
        return pairs.map { first, second in
            let padding = String(repeating: " ", count: width - first.displayWidth)
            let lines = "  \(first)\(padding)  \(second)".wrapped(to: self.columns, indent: indent)
            return lines.joined(separator: "\n") + "\n"
        }.joined()
    }

    private func usageLine(_ usage: String) -> String {
        "usage: \(usage)".wrappedLines(to: self.columns, hanging: "usage: ".count)
    }

    private func wrapped(_ text: String) -> String { text.wrappedLines(to: self.columns) }

    /// The text of a verb; for a terminal that is narrower than its lines, with each paragraph as one line.
    private func paragraphs(_ details: String) -> String {
        guard self.columns < Self.usualColumns else { return details }
        var text = ""
        var isInParagraph = false
        for line in details.split(separator: "\n", omittingEmptySubsequences: false) {
            // Empty lines and indented ones, such as commands, stay as they are.
            let isProse = !line.isEmpty && !line.hasPrefix(" ")
            if !text.isEmpty { text += isInParagraph && isProse ? " " : "\n" }
            text += line
            isInParagraph = isProse
        }
        return text
    }
}

extension Option {
    /// The option's spelling, with the word for its value.
    package var usage: String {
        guard let placeholder = self.placeholder else { return self.spelling }
        return self.isValueOptional ? "\(self.spelling)[=\(placeholder)]" : "\(self.spelling) \(placeholder)"
    }
}
