#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `help`: describes the program, or one verb.
struct HelpVerb: Verb {
    static let name = "help"
    static let synopsis = "[VERB]"
    static let operands: [Operand] = [.one(.verb)]
    static let summary = "show help for the program, or for one verb"
    static let details = ""
    static let options: [Option] = [HelpTopic.man(FleetProgram.name)]

    private let topic: HelpTopic

    init(about topic: HelpTopic) { self.topic = topic }

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        self.init(about: try HelpTopic(arguments, of: FleetProgram.program))
    }

    func run(in context: Context) -> ExitCode {
        context.console.write(
            self.topic.text(of: FleetProgram.program, isJSON: context.isJSON, width: context.console.width))
        return .done
    }

    static func printVersion(in context: Context) -> ExitCode {
        let program = FleetProgram.program
        if context.isJSON {
            context.console.write(
                JSONDocument.versions(tool: program.version, schema: Versions.schema, sqlite: Versions.sqlite))
        } else {
            context.console.writeLines(
                "\(program.name) \(program.version) (schema \(Versions.schema), fleet schema \(FleetServer.schemaVersion), "
                    + "SQLite \(Versions.sqlite))\n")
        }
        return .done
    }
}
#endif
