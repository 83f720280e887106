#if PostgreSQL
import BreakerTool

/// `completions`: prints the script by which a shell completes the command line.
struct CompletionsVerb: Verb {
    static let name = "completions"
    static let synopsis = "(bash|zsh|fish)"
    static let operands: [Operand] = [.one(.anyOf(Shell.self))]
    static let summary = "print a script by which a shell completes verbs and options"
    static let details = """
        For this session: source <(breaker-fleet completions bash), the same with zsh,
        or in fish: breaker-fleet completions fish | source. 'make install' and packages
        put the scripts where shells find them.
        """
    static let options: [Option] = []

    private let shell: Shell

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) { self.shell = try Shell(arguments) }

    func run(in context: Context) -> ExitCode {
        context.console.write(self.shell.script(for: FleetProgram.name))
        return .done
    }
}

/// `complete`: prints the completions that those scripts ask for at each Tab; the help does not list it.
struct CompleteVerb: Verb {
    static let name = "complete"
    static let synopsis = "SHELL -- WORD…"
    static let summary = "print what may follow on a command line, for a shell"
    static let details = ""
    static let options: [Option] = []

    private let operands: [String]

    init(_ arguments: Arguments, _ settings: Settings) { self.operands = arguments.operands }

    func run(in context: Context) -> ExitCode {
        context.console.write(CompletionAnswer.text(to: self.operands, of: FleetProgram.program))
        return .done
    }
}
#endif
