import BreakerTool

/// `complete`: prints the completions that the scripts of `completions` ask for; the help does not list it.
///
/// After any error it prints nothing; it changes nothing.
struct CompleteVerb: Verb {
    static let name = "complete"
    static let synopsis = "SHELL -- WORD…"
    static let summary = "print what may follow on a command line, for a shell"
    static let details = ""
    static let options: [Option] = []

    private let operands: [String]

    init(_ arguments: Arguments) { self.operands = arguments.operands }

    func run(in context: Context) -> ExitCode {
        let text = CompletionAnswer.text(to: self.operands, of: Tool.program) { kind, prefix, value in
            let names = StoreNames(path: value(.store) ?? (try? context.path()), clock: context.clock)
            return kind == .group ? names.groups() : names.circuits(from: prefix)
        }
        context.console.write(text)
        return .done
    }
}
