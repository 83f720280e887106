import BreakerStore

/// The completion of the word at the cursor.
enum Completion: Equatable {
    /// One of these texts, which all begin with the typed text.
    case words([Candidate])
    /// The path of a file, which the shell itself completes.
    case files

    struct Candidate: Equatable {
        var text: String
        var help = ""
    }

    static let nothing = Completion.words([])

    /// Completes the last word.
    ///
    /// - Parameters:
    ///   - words: the typed words after the program's name, without quotes.
    ///   - names: looks up circuits and groups.
    init(of words: [String], in program: Program, names: CompletionAnswer.Names) {
        let prefix = words.last ?? ""
        let typed = TypedWords(words.dropLast(), of: program)
        let namesOfKind = { (kind: ArgumentKind) in names(kind, prefix) { typed[$0] } }
        if let option = typed.pending {
            self.init(option.kind, prefix, program, namesOfKind)
        } else if !typed.isPastOptions, prefix.hasPrefix("-") {
            let (name, value) = Arguments.split(prefix)
            if let value {
                guard let option = typed.option(name), option.placeholder != nil else {
                    self = .nothing
                    return
                }
                self.init(option.kind, value, program) { kind in names(kind, value) { typed[$0] } }
                self = self.prefixed(by: "\(name)=")
            } else {
                self = .words(
                    typed.options.map { Candidate(text: $0.spelling, help: $0.help) }
                        .filter { $0.text.hasPrefix(prefix) })
            }
        } else if let kind = typed.operand {
            self.init(kind, prefix, program, namesOfKind)
            // The program would parse such a name as an option.
            if !typed.isPastOptions { self = self.filtered { !$0.hasPrefix("-") } }
        } else {
            self = .nothing
        }
    }

    private init(_ kind: ArgumentKind, _ prefix: String, _ program: Program, _ names: (ArgumentKind) -> [String]) {
        switch kind {
        case .text: self = .nothing
        case .file: self = .files
        case .circuit, .group: self = .words(Self.plain(names(kind), prefix))
        case .verb:
            self = .words(
                program.verbs.map { Candidate(text: $0.name, help: $0.summary) }.filter { $0.text.hasPrefix(prefix) })
        case .words(let words): self = .words(Self.plain(words, prefix))
        case .wordList(let words):
            let before = prefix.lastIndex(of: ",").map { String(prefix[...$0]) } ?? ""
            let named = before.split(separator: ",").map(String.init)
            self = .words(Self.plain(words.filter { !named.contains($0) }.map { before + $0 }, prefix))
        }
    }

    /// The texts that begin with the prefix, byte by byte, except those that a terminal would show as another text.
    private static func plain(_ texts: [String], _ prefix: String) -> [Candidate] {
        texts.filter { $0.utf8.starts(with: prefix.utf8) && $0.isPlain }.map { Candidate(text: $0) }
    }

    private func prefixed(by prefix: String) -> Completion {
        guard case .words(let words) = self else { return self }
        return .words(words.map { Candidate(text: prefix + $0.text, help: $0.help) })
    }

    private func filtered(_ isWanted: (String) -> Bool) -> Completion {
        guard case .words(let words) = self else { return self }
        return .words(words.filter { isWanted($0.text) })
    }
}

extension String {
    /// Whether the text is valid UTF-8, without control characters and characters that hide or reverse text.
    fileprivate var isPlain: Bool { self.escaped == self && !self.unicodeScalars.contains("\u{FFFD}") }
}
