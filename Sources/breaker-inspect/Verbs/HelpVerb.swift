import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `help`: describes the tool, or one verb.
struct HelpVerb: Verb {
    static let name = "help"
    static let synopsis = "[VERB]"
    static let operands: [Operand] = [.one(.verb)]
    static let summary = "show help for the tool, or for one verb"
    static let details = ""
    static let options: [Option] = [HelpTopic.man(Tool.name)]

    private let topic: HelpTopic

    init(about topic: HelpTopic) { self.topic = topic }

    init(_ arguments: Arguments) throws(Failure) { self.init(about: try HelpTopic(arguments, of: Tool.program)) }

    func run(in context: Context) throws(Failure) -> ExitCode {
        context.console.write(
            self.topic.text(of: Tool.program, isJSON: context.isJSON, width: context.console.width))
        return .done
    }

    static func printVersion(in context: Context) -> ExitCode {
        if context.isJSON {
            context.console.write(
                JSONDocument.versions(tool: Tool.version, schema: Versions.schema, sqlite: Versions.sqlite))
        } else {
            context.console.writeLines(
                "\(Tool.name) \(Tool.version) (schema \(Versions.schema), SQLite \(Versions.sqlite))\n")
        }
        return .done
    }
}
