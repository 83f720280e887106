/// What a program says to the scripts of `completions`, which ask it at each Tab.
///
/// The first line of an answer says what follows: `words`, each on a line with its help behind a tab, or `files` and
/// nothing more. For bash the words are quoted, without help. Whatever is wrong, the answer is empty.
package enum CompletionAnswer {
    /// Looks names of circuits or groups up that begin with a text, as the values of the options on the line say where.
    package typealias Names = (_ kind: ArgumentKind, _ prefix: String, _ value: (Option) -> String?) -> [String]

    /// - Parameters:
    ///   - operands: the shell, then what the script knows of the line.
    ///   - names: none for a program that has no names to complete.
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
