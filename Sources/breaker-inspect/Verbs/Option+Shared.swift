import BreakerTool

/// The options of every verb of this tool, in addition to those of every program.
extension Option {
    static let store = Option("store", "PATH", .file, help: "the store's file; by default the one in BREAKER_STORE")
    static let version = Option("version", help: "print the versions of the tool, the schema and SQLite")
}

/// The options that several verbs share.
extension Option {
    static let exact = Option("exact", help: "take arguments as names, never as patterns")
    static let all = Option("all", help: "all circuits of the store")
    static let allOfGroup = Option("group", "GROUP", .group, help: "all circuits of this group")
    static let reason = Option("reason", "TEXT", help: "why, for the history")
    static let yes = Option("yes", help: "don't ask")
    static let dryRun = Option("dry-run", help: "show what would change, and change nothing")
    static let asName = Option("as", "NAME", help: "who does it; by default your login name")
    static let state = Option(
        "state", "STATES", .wordList(StateChoice.allCases.map(\.rawValue)),
        help: "only these states, such as open,held")
    static let group = Option("group", "GROUP", .group, help: "only circuits of this group")
}
