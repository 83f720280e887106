/// The page breaker-inspect(1), made of the tables of the help.
enum ManualPage {
    /// The day on which the page was changed last, as mdoc(7) writes it.
    private static let date = "November 23, 2026"

    private static let files = [
        (ending: "-wal", help: "SQLite's log: commits that are not in the file yet"),
        (ending: "-shm", help: "the index of the log, which all processes map into memory"),
        (ending: "-lock", help: "who has the store open: a byte of it is locked for each"),
        (ending: "-board", help: "counters of the calls, which live no longer than the boot"),
    ]

    static var text: String {
        """
        .Dd \(Self.date)
        .Dt \(Tool.name.uppercased()) 1
        .Os
        .Sh NAME
        .Nm \(Tool.name)
        .Nd show and operate circuit breakers
        .Sh SYNOPSIS
        \(Tool.verbs.map(Self.synopsis).joined()).Sh DESCRIPTION
        \(Mdoc.lines(HelpText.sentence))The circuits are in one file, which
        .Fl Fl store
        names, or
        .Ev BREAKER_STORE .
        Options may stand before the verb and behind it; all after
        .Fl Fl
        are operands.
        .Pp
        The options of every verb:
        \(Self.list(Option.common)).Sh VERBS
        \(Tool.verbs.map(Self.section).joined()).Sh ENVIRONMENT
        \(Self.list(Environment.known.map { ("Ev \($0.name)", $0.help) })).Sh FILES
        The file that
        .Fl Fl store
        names has others beside it, whose names begin with its own:
        \(Self.list(Self.files.map { ("Pa \(Mdoc.argument("PATH" + $0.ending))", $0.help) })).Sh EXIT STATUS
        \(Self.list(ExitCode.allCases.map { ("Li \($0.rawValue)", $0.meaning) })).Sh EXAMPLES
        .Bd -literal
        \(Mdoc.lines(HelpText.examples.joined(separator: "\n"))).Ed
        .Sh SEE ALSO
        .Xr sqlite3 1

        """
    }

    private static func synopsis(_ verb: any Verb.Type) -> String {
        ".Nm\n.Cm \(verb.name)\n" + Mdoc.lines(HelpText.operands(verb))
    }

    private static func section(_ verb: any Verb.Type) -> String {
        let title = [verb.name, verb.synopsis].filter { !$0.isEmpty }.joined(separator: " ")
        var text = ".Ss \(Mdoc.argument(title))\n\(Mdoc.lines(HelpText.sentence(verb.summary)))"
        if !verb.details.isEmpty { text += ".Pp\n" + Mdoc.lines(verb.details) }
        if !verb.options.isEmpty { text += Self.list(verb.options) }
        return text
    }

    private static func list(_ options: [Option]) -> String {
        Self.list(
            options.map { option in
                let flag = "Fl Fl \(Mdoc.escaped(option.name))"
                guard let placeholder = option.placeholder else { return (flag, option.help) }
                let value = Mdoc.argument(placeholder)
                return (
                    option.isValueOptional ? "\(flag) Ns Oo = Ns Ar \(value) Oc" : "\(flag) Ar \(value)", option.help
                )
            })
    }

    /// - Parameter items: of each the macros that name it, and what is said of it.
    private static func list(_ items: [(macros: String, text: String)]) -> String {
        ".Bl -tag -width Ds\n" + items.map { ".It \($0.macros)\n\(Mdoc.lines($0.text))" }.joined() + ".El\n"
    }
}
