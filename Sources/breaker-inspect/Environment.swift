/// Variables of the environment.
///
/// A list: the first dictionary of a type has the runtime look for conformances in all libraries that are loaded, which
/// brings a megabyte of them into memory (`scripts/bench-inspect.py` tells).
struct Environment: ExpressibleByDictionaryLiteral, Sendable {
    /// Those that the tool asks for, and what they are for.
    static let known = [
        (name: "BREAKER_STORE", help: "the store's file, where --store names none"),
        (name: "NO_COLOR", help: "if it is set and not empty, nothing is coloured unless --color says so"),
        (name: "TERM", help: "with dumb nothing is coloured either"),
    ]

    private var variables: [(name: String, value: String)]

    init(dictionaryLiteral variables: (String, String)...) {
        self.variables = variables.map { (name: $0.0, value: $0.1) }
    }

    subscript(name: String) -> String? {
        get { self.variables.first { $0.name == name }?.value }
        set {
            self.variables.removeAll { $0.name == name }
            if let newValue { self.variables.append((name: name, value: newValue)) }
        }
    }
}
