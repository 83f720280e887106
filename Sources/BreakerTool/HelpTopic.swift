import BreakerStoreJSON

/// The topic of the verb `help`.
package enum HelpTopic: Sendable {
    case program
    case verb(any DescribedVerb.Type)
    case manual

    /// The option with which `help` prints the manual page of the program `name`.
    package static func man(_ name: String) -> Option {
        Option("man", help: "print the manual page \(name)(1), for man or mandoc")
    }

    package init(_ arguments: Arguments, of program: Program) throws(Failure) {
        guard arguments.operands.count <= 1 else { throw .usage("'help' takes one verb", verb: "help") }
        let isManual = arguments.has(Self.man(program.name))
        guard let name = arguments.operands.first else {
            self = isManual ? .manual : .program
            return
        }
        self = .verb(try program.verb(named: name))
        guard !isManual else { throw .usage("'--man' is a page about all verbs: name none", verb: "help") }
    }

    /// The text that `help` prints on a terminal of this width.
    package func text(of program: Program, isJSON: Bool, width: Int?) -> String {
        let help = HelpText(of: program, width: width)
        switch self {
        case .manual: return ManualPage(of: program).text
        case .program:
            return isJSON ? JSONDocument.help(program.verbs.map { help.json($0) }) : help.long
        case .verb(let verb): return isJSON ? JSONDocument.help([help.json(verb)]) : help.about(verb)
        }
    }
}
