/// The kind of an argument, by which shells complete it.
package enum ArgumentKind: Sendable, Equatable {
    /// A text that no shell can complete.
    case text
    /// The path of a file.
    case file
    /// The name of a circuit, or a pattern.
    case circuit
    case group
    case verb
    /// One of these words.
    case words([String])
    /// Several of these words, with commas between them.
    case wordList([String])

    /// One of the words of a type.
    package static func anyOf<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> ArgumentKind {
        .words(Word.allCases.map(\.rawValue))
    }
}
