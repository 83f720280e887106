#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool

/// The program as a whole.
enum FleetProgram {
    static let name = "breaker-fleet"
    static let verbs: [any Verb.Type] = [
        RunVerb.self, StatusVerb.self, CheckVerb.self, ResetVerb.self, HoldVerb.self, ReleaseVerb.self,
        HistoryVerb.self,
        ForgetVerb.self, SchemaVerb.self, CompletionsVerb.self, HelpVerb.self,
    ]
    /// Verbs that only scripts use.
    static let hiddenVerbs: [any Verb.Type] = [CompleteVerb.self]

    static let program = Program(
        name: Self.name,
        version: Versions.library,
        sentence: "Joins the circuit breakers of several hosts through PostgreSQL.",
        synopsis: "VERB [OPTION…]",
        verbs: Self.verbs.map { $0 },
        hiddenVerbs: Self.hiddenVerbs.map { $0 },
        commonOptions: [.postgres, .fleet, .json, .color, .help, .version],
        exitCodes: [
            (.done, "done"),
            (.failed, "failed"),
            (.declined, "you answered no"),
            (.notClosed, "check: a circuit is open on all hosts"),
            (.noSuchCircuit, "no such circuit"),
            (.cutOff, "check: this host is cut off"),
            (.usage, "wrong command line"),
            (.interrupted, "interrupted"),
        ],
        variables: Settings.variables + [
            (
                "PGHOST",
                "libpq's variables, such as PGPORT, PGUSER, PGDATABASE, PGSERVICE and PGPASSFILE, apply to what --postgres "
                    + "leaves out"
            ),
            ("NO_COLOR", "if it is set and not empty, nothing is coloured unless --color says so"),
            ("TERM", "with dumb nothing is coloured either"),
        ],
        examples: [
            "\(Self.name) schema print | psql -v ON_ERROR_STOP=1 service=breaker-owner",
            "\(Self.name) run --store /var/lib/shop/breakers.db --postgres service=breaker",
            "\(Self.name) status --postgres service=breaker",
            "\(Self.name) hold open mail --for 15m --reason INC-1",
        ],
        manual: Manual(
            date: "November 23, 2026",
            purpose: "join the circuit breakers of several hosts",
            description: """
                One such program runs on each host, or the hosts' services run the link themselves.
                No call of a service waits for PostgreSQL; while it can't be reached, each host guards itself by
                its own file.

                """,
            files: """
                For each store the program uses the file that
                .Fl Fl store
                names, those beside it, and

                """,
            fileList: [
                (macros: "Pa \(Mdoc.argument("PATH-link"))", help: "since when the link is joined or cut off")
            ],
            seeAlso: ["breaker-inspect 1", "psql 1"]
        )
    )
}

/// A verb of this program.
protocol Verb: DescribedVerb {
    init(_ arguments: Arguments, _ settings: Settings) throws(Failure)
    func run(in context: Context) throws(Failure) -> ExitCode
}

/// The console for a verb, and the form of its output.
struct Context {
    let console: any Console
    let isJSON: Bool
    let style: Style

    init(_ arguments: Arguments, environment: Environment, console: any Console) throws(Failure) {
        self.console = console
        self.isJSON = arguments.has(.json)
        self.style = Style(
            isColored: try arguments.color.isOn(onTerminal: console.outputIsTerminal, environment: environment))
    }
}

/// Runs the verb of the command line; returns the exit code.
func run(arguments: [String], environment: Environment, console: any Console) -> ExitCode {
    let program = FleetProgram.program
    do throws(Failure) {
        let parsed = try Arguments(arguments, of: program)
        let context = try Context(parsed, environment: environment, console: console)
        if parsed.has(.version) { return HelpVerb.printVersion(in: context) }
        guard let verb = (FleetProgram.verbs + FleetProgram.hiddenVerbs).first(where: { $0.name == parsed.verb?.name })
        else {
            if parsed.has(.help) { return HelpVerb(about: .program).run(in: context) }
            console.writeError(HelpText(of: program, width: console.errorWidth).short)
            return .usage
        }
        if parsed.has(.help) { return HelpVerb(about: .verb(verb)).run(in: context) }
        return try verb.init(parsed, Settings(parsed, environment)).run(in: context)
    } catch {
        console.writeError(error, of: program)
        return error.code
    }
}
#endif
