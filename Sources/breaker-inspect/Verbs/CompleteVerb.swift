import BreakerTool

/// `complete`: what the scripts of `completions` ask at each Tab; the help does not tell of it.
///
/// It prints nothing on whatever is wrong, and changes nothing.
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
