import BreakerTool

/// `complete`: what the scripts of `completions` ask at each Tab; the help does not tell of it.
///
/// It prints nothing on whatever is wrong, and changes nothing. The first line of an answer says what follows: `words`,
/// each on a line with its help behind a tab, or `files` and nothing more. For bash the words are quoted, without help.
struct CompleteVerb: Verb {
    static let name = "complete"
    static let synopsis = "SHELL -- WORD…"
    static let summary = "tell a shell what may stand on the command line"
    static let details = ""
    static let options: [Option] = []

    private let operands: [String]

    init(_ arguments: Arguments) { self.operands = arguments.operands }

    func run(in context: Context) -> ExitCode {
        guard let shell = self.operands.first.flatMap(Shell.init) else { return .done }
        let words = Array(self.operands.dropFirst())
        switch shell {
        case .bash: self.answerBash(words, in: context)
        case .zsh, .fish:
            self.answer(context.completion(of: words), in: context) { candidate in
                candidate.help.isEmpty ? candidate.text : "\(candidate.text)\t\(candidate.help)"
            }
        }
        return .done
    }

    /// Of bash come the line up to the cursor, and the part of it that bash replaces.
    private func answerBash(_ words: [String], in context: Context) {
        guard words.count == 2 else { return }
        let line = BashLine(words[0], replacing: words[1])
        let completion = line.isRedirection ? .files : context.completion(of: Array(line.words.dropFirst()))
        self.answer(completion, in: context) { line.replacement(for: $0.text) }
    }

    private func answer(
        _ completion: Completion, in context: Context, line: (Completion.Candidate) -> String?
    ) {
        switch completion {
        case .files: context.console.write("files\n")
        case .words(let candidates):
            let lines = candidates.compactMap(line)
            guard !lines.isEmpty else { return }
            context.console.write("words\n" + lines.map { $0 + "\n" }.joined())
        }
    }
}

extension Context {
    fileprivate func completion(of words: [String]) -> Completion {
        Completion(of: words) { given in StoreNames(path: given ?? (try? self.path()), clock: self.clock) }
    }
}
