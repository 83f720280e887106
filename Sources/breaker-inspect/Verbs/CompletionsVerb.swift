import BreakerTool

/// `completions`: prints the script by which a shell completes the command line.
struct CompletionsVerb: Verb {
    static let name = "completions"
    static let synopsis = "(bash|zsh|fish)"
    static let summary = "print a script by which a shell completes verbs, options and circuits"
    static let details = """
        For this session: source <(breaker-inspect completions bash), the same with
        zsh, or in fish: breaker-inspect completions fish | source. 'make install' and
        packages put the scripts where shells find them.
        Circuits are those of the store that --store on the line names, else of
        BREAKER_STORE.
        """
    static let options: [Option] = []
    static let operands: [Operand] = [.one(.anyOf(Shell.self))]

    private let shell: Shell

    init(_ arguments: Arguments) throws(Failure) { self.shell = try Shell(arguments) }

    func run(in context: Context) throws(Failure) -> ExitCode {
        context.console.write(self.shell.script(for: Tool.name))
        return .done
    }
}
