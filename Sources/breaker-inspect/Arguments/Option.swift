/// An option of the command line.
struct Option: Sendable, Equatable {
    /// Its name, without the dashes.
    var name: String
    /// What stands for its value in the help; nil if it takes none.
    var placeholder: String?
    /// Whether it may stand without its value, which then follows an equals sign.
    var isValueOptional = false
    /// What its value is.
    var kind = ArgumentKind.text
    var help: String

    var spelling: String { "--\(self.name)" }

    init(
        _ name: String, _ placeholder: String? = nil, _ kind: ArgumentKind = .text, isValueOptional: Bool = false,
        help: String
    ) {
        self.name = name
        self.placeholder = placeholder
        self.kind = kind
        self.isValueOptional = isValueOptional
        self.help = help
    }
}

/// The options of every verb.
extension Option {
    static let store = Option("store", "PATH", .file, help: "the store's file; without it BREAKER_STORE names it")
    static let json = Option("json", help: "print one JSON document, for scripts")
    static let color = Option("color", "WHEN", .anyOf(ColorChoice.self), help: "auto (the default), always or never")
    static let help = Option("help", help: "tell about the verb")
    static let version = Option("version", help: "print the versions of the tool, the schema and SQLite")

    static let common = [Self.store, .json, .color, .help, .version]
}

/// The options that several verbs share.
extension Option {
    static let exact = Option("exact", help: "take arguments as names, never as patterns")
    static let all = Option("all", help: "all circuits of the store")
    static let reason = Option("reason", "TEXT", help: "why; it stands in the history")
    static let yes = Option("yes", help: "don't ask")
    static let dryRun = Option("dry-run", help: "tell what would change, and change nothing")
    static let asName = Option("as", "NAME", help: "who does it; without it your login name")
    static let state = Option(
        "state", "STATES", .wordList(StateChoice.allCases.map(\.rawValue)),
        help: "only these, of open, half-open, closed, held: open,held")
    static let group = Option("group", "GROUP", .group, help: "only circuits of this group")
}
