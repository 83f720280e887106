import BreakerStoreJSON

/// The texts of the help.
enum HelpText {
    /// What is said to somebody who said nothing.
    static var short: String {
        """
        usage: \(Tool.name) VERB [--store PATH] [OPTION…]

        \(Self.verbs)
        '\(Tool.name) help' tells more, '\(Tool.name) help VERB' all about a verb.

        """
    }

    static var long: String {
        """
        usage: \(Tool.name) VERB [--store PATH] [OPTION…]

        \(Self.sentence)

        verbs:
        \(Self.verbs)
        options of every verb:
        \(Self.lines(Option.common.map { ($0.usage, $0.help) }))
        exit codes:
        \(Self.lines(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }))
        examples:
        \(Self.examples.map { "  \($0)\n" }.joined())
        """
    }

    static let sentence = "Shows and operates the circuit breakers that the services of this host share."
    static let examples = [
        "export BREAKER_STORE=/var/lib/shop/breakers.db",
        "\(Tool.name) list --state open,half-open",
        "\(Tool.name) reset payments --reason \"provider is back\"",
    ]

    static func of(_ verb: any Verb.Type) -> String {
        var text = "usage: \(Self.usage(verb))\n\n\(Self.sentence(verb.summary))\n"
        if !verb.details.isEmpty { text += verb.details + "\n" }
        if !verb.options.isEmpty { text += "\noptions:\n" + Self.lines(verb.options.map { ($0.usage, $0.help) }) }
        return text + "\noptions of every verb:\n" + Self.lines(Option.common.map { ($0.usage, $0.help) })
    }

    static func json(_ verb: any Verb.Type) -> JSONValue {
        let options = (verb.options + Option.common).map { (name: $0.spelling, value: $0.placeholder, help: $0.help) }
        return .verb(name: verb.name, usage: Self.usage(verb), summary: verb.summary, options: options)
    }

    private static var verbs: String { Self.lines(Tool.verbs.map { ($0.name, $0.summary) }) }

    private static func usage(_ verb: any Verb.Type) -> String {
        "\(Tool.name) \(verb.name) \(Self.operands(verb))"
    }

    /// What may follow the name of a verb.
    static func operands(_ verb: any Verb.Type) -> String {
        verb.synopsis.isEmpty ? "[OPTION…]" : "\(verb.synopsis) [OPTION…]"
    }

    static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + "."
    }

    private static func lines(_ pairs: [(String, String)]) -> String {
        let width = pairs.map(\.0.displayWidth).max() ?? 0
        return pairs.map { first, second in
            "  \(first)\(String(repeating: " ", count: width - first.displayWidth))  \(second)\n"
        }.joined()
    }
}

extension Option {
    /// How the option is written, with what stands for its value.
    var usage: String {
        guard let placeholder = self.placeholder else { return self.spelling }
        return self.isValueOptional ? "\(self.spelling)[=\(placeholder)]" : "\(self.spelling) \(placeholder)"
    }
}
