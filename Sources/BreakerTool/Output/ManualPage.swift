/// The manual page of a program, generated from the tables of its help.
package struct ManualPage {
    private let program: Program

    package init(of program: Program) { self.program = program }

    package var text: String {
        let (program, manual) = (self.program, self.program.manual)
        return """
            .Dd \(manual.date)
            .Dt \(program.name.uppercased()) 1
            .Os
            .Sh NAME
            .Nm \(program.name)
            .Nd \(manual.purpose)
            .Sh SYNOPSIS
            \(program.verbs.map(Self.synopsis).joined()).Sh DESCRIPTION
            \(Mdoc.lines(program.sentence))\(manual.description)Options may stand before the verb and behind it; all after
            .Fl Fl
            are operands.
            .Pp
            The options of every verb:
            \(Self.list(program.commonOptions)).Sh VERBS
            \(program.verbs.map(Self.section).joined()).Sh ENVIRONMENT
            \(Self.list(program.variables.map { ("Ev \($0.name)", $0.help) })).Sh FILES
            \(manual.files)\(Self.list(manual.fileList.map { ($0.macros, $0.help) })).Sh EXIT STATUS
            \(Self.list(program.exitCodes.map { ("Li \($0.code.rawValue)", $0.meaning) })).Sh EXAMPLES
            .Bd -literal
            \(Mdoc.lines(program.examples.joined(separator: "\n"))).Ed
            .Sh SEE ALSO
            \(manual.seeAlso.map { ".Xr \($0)" }.joined(separator: " ,\n"))

            """
    }

    private static func synopsis(_ verb: any DescribedVerb.Type) -> String {
        ".Nm\n.Cm \(verb.name)\n" + Mdoc.lines(HelpText.operands(verb))
    }

    private static func section(_ verb: any DescribedVerb.Type) -> String {
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

    /// A list of items.
    ///
    /// - Parameter items: the macros that name each item, and its description.
    private static func list(_ items: [(macros: String, text: String)]) -> String {
        ".Bl -tag -width Ds\n" + items.map { ".It \($0.macros)\n\(Mdoc.lines($0.text))" }.joined() + ".El\n"
    }
}
