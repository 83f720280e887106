import BreakerTool

/// `complete`: answers the scripts of `completions` at each Tab; the help does not list it.
///
/// After any error it prints nothing; it changes nothing.
struct CompleteVerb: Verb {
    static let name = "complete"
    static let synopsis = "SHELL -- WORD…"
    static let summary = "tell a shell what may stand on the command line"
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
