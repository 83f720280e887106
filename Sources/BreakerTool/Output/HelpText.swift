package import BreakerStoreJSON

/// The texts of a program's help.
package struct HelpText: Sendable {
    private let program: Program

    package init(of program: Program) { self.program = program }

    /// The answer to a command line without a verb.
    package var short: String {
        """
        usage: \(self.program.name) \(self.program.synopsis)

        \(self.verbs)
        '\(self.program.name) help' shows more, '\(self.program.name) help VERB' all about a verb.

        """
    }

    package var long: String {
        """
        usage: \(self.program.name) \(self.program.synopsis)

        \(self.program.sentence)

        verbs:
        \(self.verbs)
        options of every verb:
        \(Self.lines(self.program.commonOptions.map { ($0.usage, $0.help) }))
        exit codes:
        \(Self.lines(self.program.exitCodes.map { ("\($0.code.rawValue)", $0.meaning) }))
        examples:
        \(self.program.examples.map { "  \($0)\n" }.joined())
        """
    }

    package func about(_ verb: any DescribedVerb.Type) -> String {
        var text = "usage: \(self.usage(verb))\n\n\(Self.sentence(verb.summary))\n"
        if !verb.details.isEmpty { text += verb.details + "\n" }
        if !verb.options.isEmpty { text += "\noptions:\n" + Self.lines(verb.options.map { ($0.usage, $0.help) }) }
        let common = self.program.commonOptions(of: verb)
        return text + "\noptions of every verb:\n" + Self.lines(common.map { ($0.usage, $0.help) })
    }

    package func json(_ verb: any DescribedVerb.Type) -> JSONValue {
        let options = (verb.options + self.program.commonOptions(of: verb)).map {
            (name: $0.spelling, value: $0.placeholder, help: $0.help)
        }
        return .verb(name: verb.name, usage: self.usage(verb), summary: verb.summary, options: options)
    }

    private var verbs: String { Self.lines(self.program.verbs.map { ($0.name, $0.summary) }) }

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
    private static let columns = 80

    private static func lines(_ pairs: [(String, String)]) -> String {
        let width = pairs.map(\.0.displayWidth).max() ?? 0
        let indent = width + 4
        return pairs.map { first, second in
            let lines = second.wrapped(to: Self.columns - indent)
            let padding = String(repeating: " ", count: width - first.displayWidth)
            let separator = "\n" + String(repeating: " ", count: indent)
            return "  \(first)\(padding)  \(lines.joined(separator: separator))\n"
        }.joined()
    }
}

extension Option {
    /// The option's spelling, with the word for its value.
    package var usage: String {
        guard let placeholder = self.placeholder else { return self.spelling }
        return self.isValueOptional ? "\(self.spelling)[=\(placeholder)]" : "\(self.spelling) \(placeholder)"
    }
}
