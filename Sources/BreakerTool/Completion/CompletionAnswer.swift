/// The answers to the scripts of `completions`, which run a program at each Tab.
///
/// The first line of an answer is its kind: `words`, with a word on each further line and its help after a tab, or
/// `files` alone. For bash the words are quoted, without help. After any error the answer is empty.
package enum CompletionAnswer {
    /// Looks up names that begin with a text, in the store that the options on the line name.
    package typealias Names = (_ kind: ArgumentKind, _ prefix: String, _ value: (Option) -> String?) -> [String]

    /// The answer for a command line.
    ///
    /// - Parameters:
    ///   - operands: the shell, then what the script passes of the line.
    ///   - names: looks up names; a program without names to complete leaves it out.
    package static func text(
        to operands: [String], of program: Program, names: Names = { _, _, _ in [] }
    ) -> String {
        guard let shell = operands.first.flatMap(Shell.init) else { return "" }
        let words = Array(operands.dropFirst())
        switch shell {
        case .bash:
            // The line up to the cursor, and the part of it that bash replaces.
            guard words.count == 2 else { return "" }
            let line = BashLine(words[0], replacing: words[1])
            if line.isRedirection { return Self.text(.files) { $0.text } }
            let completion = Completion(of: Array(line.words.dropFirst()), in: program, names: names)
            return Self.text(completion) { line.replacement(for: $0.text) }
        case .zsh, .fish:
            return Self.text(Completion(of: words, in: program, names: names)) { candidate in
                candidate.help.isEmpty ? candidate.text : "\(candidate.text)\t\(candidate.help)"
            }
        }
    }

    private static func text(_ completion: Completion, line: (Completion.Candidate) -> String?) -> String {
        switch completion {
        case .files: return "files\n"
        case .words(let candidates):
            let lines = candidates.compactMap(line)
            return lines.isEmpty ? "" : "words\n" + lines.map { $0 + "\n" }.joined()
        }
    }
}
