import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is true of the tool as a whole.
enum Tool {
    static let name = "breaker-inspect"
    static let version = Versions.library
    static let verbs: [any Verb.Type] = [
        ListVerb.self, ShowVerb.self, CheckVerb.self, WaitVerb.self, ResetVerb.self, ProbeVerb.self, HoldVerb.self,
        ReleaseVerb.self, ForgetVerb.self,
        HistoryVerb.self, WorkersVerb.self, DoctorVerb.self, MetricsVerb.self, ReportVerb.self, CompletionsVerb.self,
        HelpVerb.self,
    ]
    /// What no person asks for.
    private static let hiddenVerbs: [any Verb.Type] = [CompleteVerb.self]

    static func verb(named name: String) throws(Failure) -> any Verb.Type {
        if let verb = (self.verbs + self.hiddenVerbs).first(where: { $0.name == name }) { return verb }
        let nearest = Spelling.nearest(to: name, among: self.verbs.map { $0.name })
        throw .usage("unknown verb \(name.quoted)", hint: nearest.map { "did you mean '\($0)'?" })
    }
}

/// Runs the tool: reads the command line, does what it says, and returns the code to end with.
///
/// - Parameters:
///   - arguments: the command line, without the program's name.
///   - environment: the variables of the environment.
///   - console: where output goes and answers come from.
///   - clock: the clock that the store's processes go by.
func run(
    arguments: [String],
    environment: Environment,
    console: any Console,
    clock: any HostClock = SystemHostClock()
) -> ExitCode {
    do throws(Failure) {
        let parsed = try Arguments(arguments)
        let context = try Context(parsed, environment: environment, console: console, clock: clock)
        if parsed.has(.version) { return HelpVerb.printVersion(in: context) }
        guard let verb = parsed.verb else {
            if parsed.has(.help) { return try HelpVerb(verb: nil).run(in: context) }
            console.writeError(HelpText.short)
            return .usage
        }
        if parsed.has(.help) { return try HelpVerb(verb: verb).run(in: context) }
        return try verb.init(parsed).run(in: context)
    } catch {
        console.writeError(error)
        return error.code
    }
}
