import BreakerStore
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The tool as a whole.
enum Tool {
    static let name = "breaker-inspect"
    static let version = Versions.library
    static let verbs: [any Verb.Type] = [
        ListVerb.self, ShowVerb.self, CheckVerb.self, WaitVerb.self, ResetVerb.self, ProbeVerb.self, HoldVerb.self,
        ReleaseVerb.self, ForgetVerb.self, RunVerb.self,
        AdmitVerb.self, FinishVerb.self, RecordVerb.self,
        HistoryVerb.self, WorkersVerb.self, DoctorVerb.self, SetAsideVerb.self, MetricsVerb.self, ReportVerb.self,
        CompletionsVerb.self,
        HelpVerb.self,
    ]
    /// Verbs that only scripts use.
    static let hiddenVerbs: [any Verb.Type] = [CompleteVerb.self, RenewVerb.self]

    static let program = Program(
        name: Self.name,
        version: Self.version,
        sentence: "Shows and operates the circuit breakers that the services of this host share.",
        synopsis: "VERB [--store PATH] [OPTION…]",
        verbs: Self.verbs.map { $0 },
        hiddenVerbs: Self.hiddenVerbs.map { $0 },
        otherVerbs: [
            "status": "list", "ls": "list", "watch": "list --watch", "top": "list --watch", "get": "show",
            "describe": "show", "info": "show", "close": "reset", "open": "hold open", "lock": "hold",
            "unlock": "release",
            "unhold": "release", "events": "history", "log": "history --follow", "delete": "forget", "rm": "forget",
            "health": "doctor", "ps": "workers", "try": "probe", "exec": "run",
        ],
        commonOptions: [.store, .json, .color, .help, .version],
        exitCodes: [
            (.done, "done"),
            (.failed, "failed"),
            (.declined, "you answered no"),
            (.notClosed, "check: some circuit is not closed"),
            (.noSuchCircuit, "no such circuit"),
            (.degraded, "check: all closed, but some worker is degraded"),
            (.usage, "wrong command line"),
            (.busy, "not now: the store is busy, or the circuit refuses the call"),
            (.timedOut, "wait: timed out; run: so did the command"),
            (.notExecutable, "run: the command cannot be executed"),
            (.noSuchCommand, "run: there is no such command"),
            (.interrupted, "interrupted"),
        ],
        variables: [
            ("BREAKER_STORE", "the store's file, where --store names none"),
            ("NO_COLOR", "if it is set and not empty, nothing is coloured unless --color says so"),
            ("TERM", "with dumb nothing is coloured either"),
        ],
        examples: [
            "export BREAKER_STORE=/var/lib/shop/breakers.db",
            "\(Self.name) list --state open,half-open",
            "\(Self.name) reset payments --reason \"provider is back\"",
            "\(Self.name) run payments --wait 2m -- curl -f https://pay.example/",
        ],
        manual: Self.manual
    )

    private static let manual = Manual(
        date: "November 27, 2026",
        purpose: "show and operate circuit breakers",
        description: """
            The circuits are in one file, which
            .Fl Fl store
            names, or
            .Ev BREAKER_STORE .

            """,
        files: """
            The file that
            .Fl Fl store
            names has others beside it, whose names begin with its own:

            """,
        fileList: [
            ("-wal", "SQLite's log: commits that are not in the file yet"),
            ("-shm", "the index of the log, which all processes map into memory"),
            ("-lock", "which processes have the store open: each has a byte of it locked"),
            ("-board", "counters of the calls, valid until the host is rebooted"),
        ].map { (macros: "Pa \(Mdoc.argument("PATH" + $0.0))", help: $0.1) },
        seeAlso: ["sqlite3 1"]
    )
}

/// Runs the verb of the command line; returns the exit code.
///
/// - Parameters:
///   - arguments: the command line, without the program's name.
///   - environment: the environment variables.
///   - console: where output goes and answers come from.
///   - clock: the clock of the store's processes.
func run(
    arguments: [String],
    environment: Environment,
    console: any Console,
    clock: any HostClock = SystemHostClock()
) -> ExitCode {
    do throws(Failure) {
        let parsed = try Arguments(arguments, of: Tool.program)
        let context = try Context(parsed, environment: environment, console: console, clock: clock)
        if parsed.has(.version) { return HelpVerb.printVersion(in: context) }
        guard let verb = (Tool.verbs + Tool.hiddenVerbs).first(where: { $0.name == parsed.verb?.name }) else {
            if parsed.has(.help) { return try HelpVerb(about: .program).run(in: context) }
            console.writeError(HelpText(of: Tool.program, width: console.errorWidth).short)
            return .usage
        }
        if parsed.has(.help) { return try HelpVerb(about: .verb(verb)).run(in: context) }
        return try verb.init(parsed).run(in: context)
    } catch {
        console.writeError(error)
        return error.code
    }
}
