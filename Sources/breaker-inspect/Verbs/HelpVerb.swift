import BreakerStore
import BreakerStoreJSON

/// `help`: what the tool can do.
struct HelpVerb: Verb {
    static let name = "help"
    static let synopsis = "[VERB]"
    static let operands: [Operand] = [.one(.verb)]
    static let summary = "tell about the tool, or about one verb"
    static let details = ""
    static let man = Option("man", help: "print the manual page breaker-inspect(1), for man or mandoc")
    static let options: [Option] = [Self.man]

    private let verb: (any Verb.Type)?
    private var isManual = false

    init(verb: (any Verb.Type)?) { self.verb = verb }

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count <= 1 else { throw .usage("'help' takes one verb", verb: Self.name) }
        var verb: (any Verb.Type)?
        if let name = arguments.operands.first { verb = try Tool.verb(named: name) }
        self.init(verb: verb)
        self.isManual = arguments.has(Self.man)
        guard !self.isManual || verb == nil else {
            throw .usage("'--man' is a page about all verbs: name none", verb: Self.name)
        }
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        if self.isManual {
            context.console.write(ManualPage.text)
        } else if context.isJSON {
            let verbs = self.verb.map { [$0] } ?? Tool.verbs
            context.console.write(JSONDocument.help(verbs.map { HelpText.json($0) }))
        } else {
            context.console.write(self.verb.map { HelpText.of($0) } ?? HelpText.long)
        }
        return .done
    }

    static func printVersion(in context: Context) -> ExitCode {
        if context.isJSON {
            context.console.write(
                JSONDocument.versions(tool: Tool.version, schema: Versions.schema, sqlite: Versions.sqlite))
        } else {
            context.console.write(
                "\(Tool.name) \(Tool.version) (schema \(Versions.schema), SQLite \(Versions.sqlite))\n")
        }
        return .done
    }
}
