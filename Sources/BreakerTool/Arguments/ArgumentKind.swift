/// What stands in one place of the command line; shells complete it.
package enum ArgumentKind: Sendable, Equatable {
    /// Something that nobody can guess.
    case text
    /// The path of a file.
    case file
    /// The name of a circuit, or a pattern.
    case circuit
    /// The name of a group.
    case group
    /// The name of a verb.
    case verb
    /// One of some words.
    case words([String])
    /// Some of these words, with commas between them.
    case wordList([String])

    /// One of the words that a type has.
    package static func anyOf<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> ArgumentKind {
        .words(Word.allCases.map(\.rawValue))
    }
}
